import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { isJsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { summaryStep, switchOff } from '../kit/compacting.ts'
import { call, jsonObject, stringIn, text } from '../kit/headless.ts'

// A file may be changed by who sees it. What the model sees is what is in view: a compaction or a clearing takes a read away, a resumed
// session has it.

const HOUR_MS = 3_600_000
const EDIT = call('Edit', { file_path: 'a.ts', old_string: 'one', new_string: 'two' })
const MODEL = { PALIMPSEST_MODEL: 'claude-opus-4-6', PALIMPSEST_WINDOW: '60000' }
/** More than a compaction reads again. */
const OTHERS = 8

describe('a file that was read in an earlier run', () => {
  test('can be changed while what was read is in view', async () => {
    const bench = await benchWith([[read('a.ts')], [EDIT]])
    await say(bench, 'first')
    expect(await say(bench, 'then', '--continue')).toMatch(/^Replaced 1 occurrence in .*a\.ts at line 1\.$/)
    expect(await readFile(join(bench.folder, 'a.ts'), 'utf8')).toMatch(/^export const two = 1\n/)
  })

  test('must be read again if somebody changed it since', async () => {
    const bench = await benchWith([[read('a.ts')], [EDIT]])
    await say(bench, 'first')
    await writeFile(join(bench.folder, 'a.ts'), 'export const one = 3\n')
    expect(await say(bench, 'then', '--continue')).toMatch(
      /a\.ts changed since it was read\. Read it again, then/,
    )
  })

  test('counts as read after an edit whose result is in view', async () => {
    const again = call('Edit', { file_path: 'a.ts', old_string: 'two', new_string: 'three' })
    const bench = await benchWith([[read('a.ts'), EDIT], [again]])
    await say(bench, 'first')
    expect(await say(bench, 'then', '--continue')).toMatch(/^Replaced 1 occurrence/)
  })
})

describe('a file that left the view', () => {
  test('because of a compaction must be read again, and can then be changed', async () => {
    const bench = await benchWith([[read('a.ts'), ...others()], [EDIT], [read('a.ts')], [EDIT]])
    await say(bench, 'first')
    expect((await bench.run(['compact'], MODEL)).exit).toBe(0)
    expect(await say(bench, 'then', '--continue')).toMatch(
      /^(?:What you read of .*a\.ts is no longer in this conversation|.*a\.ts was not read yet)\. Read it/,
    )
    await say(bench, 'read it', '--continue')
    expect(await say(bench, 'now', '--continue')).toMatch(/^Replaced 1 occurrence/)
  })

  test('can be changed again if the compaction is undone', async () => {
    const bench = await benchWith([[read('a.ts'), ...others()], [EDIT]])
    await say(bench, 'first')
    const { out } = await bench.run(['compact', '--json'], MODEL)
    expect((await bench.run(['undo', stringIn(jsonObject(out), 'id')], MODEL)).exit).toBe(0)
    expect(await say(bench, 'then', '--continue')).toMatch(/^Replaced 1 occurrence/)
  })

  test('and that the compaction itself read again can be changed', async () => {
    const bench = await benchWith([[...others(), read('a.ts')], [EDIT]])
    await say(bench, 'first')
    expect((await bench.run(['compact'], MODEL)).exit).toBe(0)
    expect(await say(bench, 'then', '--continue')).toMatch(/^Replaced 1 occurrence/)
  })

  test('because of clearing must be read again', async () => {
    const bench = await benchWith([[read('a.ts')], others(), others(), [EDIT]], 100)
    await say(bench, 'first')
    await say(bench, 'parts', '--continue')
    await say(bench, 'again', '--continue')
    bench.wait(2 * HOUR_MS)
    expect(await say(bench, 'then', '--continue')).toMatch(
      /^What you read of .*a\.ts is no longer in this conversation\. Read it again, then change it\.$/,
    )
  })
})

function read(name: string) {
  return call('Read', { file_path: name })
}

function others() {
  return Array.from({ length: OTHERS }, (_, i) => read(`part-${i}.ts`))
}

/** One turn: so many calls, and an answer. */
async function benchWith(
  turns: readonly (readonly ReturnType<typeof call>[])[],
  lines = 400,
): Promise<CommandBench> {
  const bench = await createCommandBench()
  await switchOff(bench, 'server-compaction', 'background-calls', 'micro-batch', 'session-memory')
  await writeFile(
    join(bench.folder, 'a.ts'),
    `export const one = 1\n${'export const other = 2\n'.repeat(lines)}`,
  )
  for (let i = 0; i < OTHERS; i++)
    await writeFile(join(bench.folder, `part-${i}.ts`), `export const part${i} = ${i}\n`.repeat(lines))
  bench.simulator.addSteps([
    summaryStep('They read parts.'),
    ...turns.flatMap((content): ScriptStep[] => [{ content }, { content: [text('Done.')] }]),
  ])
  return bench
}

/** The text of the last result that the model was given. */
async function say(bench: CommandBench, prompt: string, ...args: readonly string[]): Promise<string> {
  const ran = await bench.run(['-p', prompt, '--permission-mode', 'accept-edits', ...args], MODEL)
  expect(ran).toMatchObject({ exit: 0, out: 'Done.\n' })
  return textOfLast(bench.asked('main').at(-1)?.body)
}

function textOfLast(body: unknown): string {
  const parsed: unknown = typeof body === 'string' ? JSON.parse(body) : body
  const messages: unknown = isJsonObject(parsed) ? parsed['messages'] : undefined
  const blocks = (Array.isArray(messages) ? messages : []).flatMap((message: { content: unknown }) =>
    Array.isArray(message.content) ? message.content : [],
  )
  const last: unknown = blocks.findLast((block: { type: string }) => block.type === 'tool_result')
  const content = isJsonObject(last) ? last['content'] : ''
  return typeof content === 'string' ? content : JSON.stringify(content)
}
