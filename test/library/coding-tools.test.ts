import Anthropic from '@anthropic-ai/sdk'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createAgent } from 'palimpsest'
import { codingTools } from 'palimpsest-cli/tools'
import { createSimulator, type ScriptStep } from 'palimpsest/simulator'
import { expect, expectTypeOf, onTestFinished, test } from 'vitest'

import type * as Declared from '../../packages/palimpsest-cli/tools.d.ts'

// The command's tools in an agent of the library.

const call = (name: string, input: object): ScriptStep => ({
  content: [{ type: 'tool_use', name, input: { ...input } }],
  stop_reason: 'tool_use',
})

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'palimpsest-coding-'))
  onTestFinished(async () => await rm(path, { recursive: true, force: true }))
  return path
}

async function play(
  script: readonly ScriptStep[],
  options: Omit<Declared.CodingToolsOptions, 'env'>,
): Promise<readonly string[]> {
  const simulator = createSimulator({ script: [...script, { content: [{ type: 'text', text: 'Done.' }] }] })
  const client = new Anthropic({
    apiKey: 'none',
    fetch: (input, init) => simulator.fetch(new Request(input, init)),
  })
  const { tools, permit, close } = await codingTools({ ...options, env: process.env })
  const agent = createAgent({ client, model: 'claude-sonnet-5-5', tools, permit })
  const results: string[] = []
  for await (const event of agent.send('Work.')) if (event.type === 'tool-end') results.push(event.entry.json)
  await agent.close()
  await close()
  return results
}

test('its declared types match what is exported', () => {
  expectTypeOf(codingTools).toExtend<typeof Declared.codingTools>()
})

test('an agent of the library reads, searches and edits with the tools of the command', async () => {
  const cwd = await folder()
  await writeFile(join(cwd, 'a.txt'), 'one\ntwo\n')
  const results = await play(
    [
      call('Read', { file_path: 'a.txt' }),
      call('Grep', { pattern: 'two' }),
      call('Edit', { file_path: 'a.txt', old_string: 'two', new_string: 'three' }),
    ],
    { cwd, mode: 'accept-edits' },
  )
  expect(results[0]).toContain('one')
  expect(results[1]).toContain('a.txt')
  expect(await readFile(join(cwd, 'a.txt'), 'utf8')).toBe('one\nthree\n')
})

test('what needs permission is asked about, and refused if there is nobody to ask; rules decide first', async () => {
  const cwd = await folder()
  const write = call('Write', { file_path: 'b.txt', content: 'b' })
  const [refused] = await play([write], { cwd })
  expect(refused).toContain('This program asks nobody.')
  const asked: string[] = []
  const [answered] = await play([write], {
    cwd,
    ask: async ({ tool }) => {
      asked.push(tool)
      return { kind: 'no', words: 'Use c.txt instead.' }
    },
  })
  expect({ asked, answered }).toEqual({
    asked: ['Write'],
    answered: expect.stringContaining('Use c.txt instead.'),
  })
  expect(await readdir(cwd)).toEqual([])
  await play([write], { cwd, allow: ['Write(b.txt)'] })
  expect(await readFile(join(cwd, 'b.txt'), 'utf8')).toBe('b')
  await play([call('Write', { file_path: 'c.txt', content: 'c' })], {
    cwd,
    mode: 'accept-edits',
    deny: ['Write(c.txt)'],
  })
  expect(await readdir(cwd)).toEqual(['b.txt'])
})

test('an invalid rule is refused with the form that it should have', async () => {
  await expect(codingTools({ cwd: await folder(), env: {}, allow: ['Bash('] })).rejects.toThrow(
    'Write Tool or Tool(pattern)',
  )
})
