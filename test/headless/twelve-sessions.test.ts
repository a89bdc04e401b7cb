import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'

// A project over twelve sessions: what the user states, revokes and asks, and a model that extracts well, badly, or not at all.

const ON = { PALIMPSEST_MEMORY_EXTRACT: '1' }
const text = (words: string) => ({ type: 'text', text: words }) as const
const DONE: ScriptStep = { content: [text('Done.')] }
const NOTHING: ScriptStep = { content: [text('Nothing to save.')], when: { source: 'extract-memories' } }
const DAY_MS = 86_400_000

function memoryFolder({ home, folder }: CommandBench): string {
  return join(home, 'projects', folder.replaceAll(/[^A-Za-z0-9]/g, '-'), 'memory')
}

interface Wanted {
  readonly name: string
  readonly says: string
  readonly more?: string
}

/** The fork writes these. */
function saves(bench: CommandBench, ...wanted: readonly Wanted[]): ScriptStep {
  return {
    content: wanted.map(({ name, says, more = 'messages: m1' }) => ({
      type: 'tool_use' as const,
      name: 'Write',
      input: {
        file_path: join(memoryFolder(bench), `${name}.md`),
        content: `---\ndescription: ${JSON.stringify(says)}\ntype: project\n${more}\n---\n`,
      },
    })),
    when: { source: 'extract-memories' },
  }
}

async function texts(bench: CommandBench): Promise<{ readonly [name: string]: string }> {
  const folder = memoryFolder(bench)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md'))
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')])),
  )
}

test('what was stated once is known in the twelfth session, what was revoked is ended with its date, and undo restores the bytes', async () => {
  const bench = await createCommandBench()
  const session = async (prompt: string, extraction = NOTHING, work: readonly ScriptStep[] = []) => {
    bench.simulator.addSteps([extraction, ...work, DONE])
    expect((await bench.run(['-p', prompt], ON)).exit).toBe(0)
    bench.wait(DAY_MS)
  }
  const json = async (...words: string[]) => JSON.parse((await bench.run(['memory', ...words, '--json'])).out)
  const reading: ScriptStep = {
    content: [{ type: 'tool_use' as const, name: 'Bash', input: { command: 'echo the retry limit is 7' } }],
  }
  await session('We deploy on Tuesdays.', saves(bench, { name: 'deploy-day', says: 'We deploy on Tuesdays' }))
  await session('Fix the build.')
  await session(
    'The staging server is called heron.',
    saves(bench, { name: 'staging', says: 'The staging server is called heron' }),
  )
  // It says what the code says, what nobody said, and the opposite of what was said.
  await session(
    'How often do we retry?',
    saves(
      bench,
      { name: 'retries', says: 'The retry limit is 7' },
      { name: 'ci', says: 'CI runs on Jenkins' },
    ),
    [reading],
  )
  await session('Never push to main.', saves(bench, { name: 'push', says: 'Push to main' }))
  await session(
    'We deploy on Tuesdays, as ever.',
    saves(bench, { name: 'again', says: 'We deploy on Tuesdays' }),
  )
  await session('Rename the helper.')
  await session(
    'We no longer deploy on Tuesdays, we deploy on Thursdays.',
    saves(bench, {
      name: 'deploy-thursday',
      says: 'We no longer deploy on Tuesdays, we deploy on Thursdays',
      more: 'messages: m1\nends: deploy-day',
    }),
  )
  await session('Tidy up.')
  await session('Run the tests.')
  const before = await texts(bench)
  await session(
    'The release branch is called osprey.',
    saves(bench, { name: 'branch', says: 'The release branch is called osprey' }),
  )
  const listed: readonly { readonly name: string; readonly ended: string | null }[] = await json('list')
  expect(listed.filter(({ ended }) => ended === null).map(({ name }) => name)).toEqual([
    'branch',
    'deploy-thursday',
    'staging',
  ])
  const ended = listed.find(({ name }) => name === 'deploy-day')?.ended ?? ''
  expect(Date.parse(ended)).toBeGreaterThan(0)
  expect((await json('pending')).map(({ name }: { name: string }) => name)).toEqual(['retries', 'ci', 'push'])
  await bench.run(['memory', 'undo'])
  expect(await texts(bench)).toEqual(before)
  await session('Where is staging?')
  const last = JSON.stringify(bench.asked('main').at(-1)?.body)
  expect(last).toContain('The staging server is called heron (')
  expect(last).toContain('we deploy on Thursdays (')
  expect(last).not.toContain('[deploy-day]')
  expect(last).not.toContain('Jenkins')
  const { pollution } = await json('check')
  expect(pollution).toMatchObject({ loaded: 3, loaded_wrong: 1 })
})
