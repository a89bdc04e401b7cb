import { expect, test } from 'vitest'

import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { longAnswers, ROUNDS_TO_FILL, setFlags, settings, WINDOW } from '../kit/compacting.ts'
import { call, text } from '../kit/headless.ts'

// When notes are bought: where a compaction is coming that they serve, and from the bill of the whole session.

const NOTES: ScriptStep = {
  when: { source: 'session-memory' },
  content: [text('<notes>\n# Current state\nHALF OF IT IS DONE.\n</notes>')],
  times: 99,
}
const SUMMARY: ScriptStep = {
  when: { source: 'compact' },
  content: [text('<analysis>All of it.</analysis><summary>The window was filled.</summary>')],
  times: 99,
}
const NO_OWN_SUMMARY = { 'server-compaction': false }

function main(steps: readonly ScriptStep[]): readonly ScriptStep[] {
  return steps.map((step) => ({ ...step, when: { source: 'main' } }))
}

async function fill(bench: CommandBench, rounds: number, args: readonly string[] = [], env = {}) {
  bench.simulator.addSteps(main([...longAnswers('filling', rounds), { content: [text('Done.')] }]))
  const ran = await bench.run(['-p', 'fill the window', '--max-turns', '99', ...args], env)
  expect(ran).toMatchObject({ exit: 0 })
}

test('with eager notes the first ones are written after 10,000 tokens, not when the window is nearly full', async () => {
  const bench = await createCommandBench({ script: [NOTES, SUMMARY] })
  await settings(bench, { sessionMemory: 'eager' })
  await setFlags(bench, NO_OWN_SUMMARY)
  await fill(bench, 4)
  const first = bench.asked('session-memory')[0]
  expect(first?.input_tokens).toBeLessThan(40_000)
})

test('the bill of the whole session counts, not only what was spent since the boundary it is resumed from', async () => {
  const bench = await createCommandBench({ script: [NOTES, SUMMARY] })
  await setFlags(bench, { ...NO_OWN_SUMMARY, 'session-memory': false, 'prepared-compaction': false })
  await fill(bench, ROUNDS_TO_FILL, ['--window', WINDOW])
  expect(bench.asked('compact')).toHaveLength(1)
  await setFlags(bench, { ...NO_OWN_SUMMARY, 'session-memory-eager': true })
  // Little is spent from here on: not ten times what notes cost.
  bench.simulator.addSteps(main([...shortAnswers(4), { content: [text('Done.')] }]))
  expect(await bench.run(['-p', 'go on', '--continue', '--window', WINDOW])).toMatchObject({ exit: 0 })
  expect(bench.asked('session-memory').length).toBeGreaterThan(0)
})

function shortAnswers(count: number): readonly ScriptStep[] {
  const words = 'A line that says little. '.repeat(200)
  return Array.from({ length: count }, (_, i) => ({
    content: [text(`Part ${i}. ${words}`), call('Read', { file_path: `short-${i}.txt` })],
  }))
}

type Case = readonly [where: string, flags: Values, env: Env, sessionMemory: string]
type Values = { readonly [flag: string]: boolean }
type Env = { readonly [name: string]: string }

const NOT_BOUGHT: readonly Case[] = [
  ['the provider writes its own summary', {}, {}, 'computed'],
  ['nothing compacts by itself', NO_OWN_SUMMARY, { DISABLE_AUTO_COMPACT: '1' }, 'computed'],
  ['nothing may compact, however eagerly', NO_OWN_SUMMARY, { DISABLE_COMPACT: '1' }, 'eager'],
  [
    'they must not become the summary',
    { ...NO_OWN_SUMMARY, 'compaction-from-notes': false, 'prepared-compaction': false },
    {},
    'computed',
  ],
]
/** Not even eagerly says as much. */
const FURTHER_NOT_BOUGHT: readonly Case[] = [
  ['nothing may compact', NO_OWN_SUMMARY, { DISABLE_COMPACT: '1' }, 'computed'],
]

test.each(process.env['SOAK'] ? [...NOT_BOUGHT, ...FURTHER_NOT_BOUGHT] : NOT_BOUGHT)(
  'none are bought if %s',
  async (_where, flags, env, sessionMemory) => {
    const bench = await createCommandBench({ script: [NOTES, SUMMARY] })
    await settings(bench, { sessionMemory })
    await setFlags(bench, flags)
    await fill(bench, 6, ['--window', WINDOW], env)
    expect(bench.asked('session-memory').length).toBe(0)
  },
)

test('they are bought if nothing else serves', async () => {
  const bench = await createCommandBench({ script: [NOTES, SUMMARY] })
  await setFlags(bench, NO_OWN_SUMMARY)
  await fill(bench, 6, ['--window', WINDOW])
  expect(bench.asked('session-memory')).toHaveLength(1)
})
