import { expect, test } from 'vitest'

import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { createCommandBench, type CommandBench, type CommandRun } from '../kit/command-bench.ts'
import { longAnswers, setFlags, summaryStep, SUMMARY_ASKED } from '../kit/compacting.ts'
import { put, text } from '../kit/headless.ts'
import { join } from 'node:path'

// With `--debug` every decision is a line: what a check of the size found, which guard decided, and each step of a compaction.

const ENV = { PALIMPSEST_MODEL: 'claude-opus-5', PALIMPSEST_WINDOW: '60000' }
const AUTO_TOKENS = 50_100
const BLOCKING_TOKENS = 53_100

test('every check reports size, threshold, what was freed, and which guard decided', async () => {
  const { ran } = await refusedOnce()
  const checks = named(ran, 'size-check')
  expect(checks.length).toBeGreaterThan(5)
  for (const check of checks)
    expect(check).toMatchObject({
      thresholdTokens: AUTO_TOKENS,
      blockingTokens: BLOCKING_TOKENS,
      tokens: expect.any(Number),
      freedTokens: expect.any(Number),
      reason: expect.stringMatching(/^(?:below-threshold|compacted)$/),
    })
  const compacted = checks.filter(({ reason }) => reason === 'compacted')
  expect(compacted).toHaveLength(1)
  expect(Number(compacted[0]?.['freedTokens'])).toBeGreaterThan(10_000)
  expect(Number(compacted[0]?.['tokens'])).toBeLessThan(AUTO_TOKENS)
  expect(
    checks.filter(({ reason, freedTokens }) => reason === 'below-threshold' && freedTokens !== 0),
  ).toEqual([])
})

test.each([
  ['off', { 'auto-compact': false }, {}],
  ...(process.env['SOAK'] ? ([['off', {}, { DISABLE_AUTO_COMPACT: '1' }]] as const) : []),
  ['reactive-only', { 'reactive-only': true }, {}],
] as const)('over the threshold, %s is reported as the deciding guard: %o %o', async (reason, flags, env) => {
  const { ran } = await filled(flags, env, 8)
  const over = named(ran, 'size-check').filter(({ tokens }) => Number(tokens) >= AUTO_TOKENS)
  expect(over.length).toBeGreaterThan(0)
  expect(named(ran, 'auto-compact')).toContainEqual(expect.objectContaining({ reason, cause: 'threshold' }))
  // Where nothing may act, the limit is what decides in the end.
  expect(over.at(-1)?.['reason']).toBe(reason === 'off' ? 'blocked' : reason)
})

test('a compaction traces its steps: start, hooks, each way to a summary, what was restored, its end', async () => {
  const { bench, ran } = await refusedOnce()
  expect(bench.asked('compact').map(({ status }) => status)).toEqual([400, 200])
  const phases = named(ran, 'compaction-phase')
  expect(phases.map(({ phase, path, reason }) => [phase, path ?? reason, path ? reason : undefined])).toEqual(
    [
      ['start', 'threshold', undefined],
      ['hooks-before', 'passed', undefined],
      ['summary', 'fork', 'api_error'],
      ['summary', 'plain', 'served'],
      ['restored', undefined, undefined],
      ['hooks-after', 'auto', undefined],
    ],
  )
  expect(phases[1]).toMatchObject({ instructionChars: 'Keep the names.'.length })
  expect(named(ran, 'auto-compact')).toMatchObject([{ reason: 'compacted', cause: 'threshold' }])
})

test.each([
  ['the fork', true],
  ['the plain request', false],
])(
  '%s was too long: each shortening before the next attempt is traced, with the amount',
  async (_what, isFork) => {
    const { bench, ran } = await filled({ 'compaction-fork': isFork }, {}, 8, async (one) => {
      one.simulator.addFaults([
        {
          match: { bodyContains: SUMMARY_ASKED },
          times: 2,
          fault: { type: 'prompt_too_long', format: 'anthropic' },
        },
      ])
    })
    expect(named(ran, 'summary-retry')).toMatchObject([
      { reason: 'prompt_too_long', attempt: 1, skipped: expect.any(Number), rounds: expect.any(Number) },
      { reason: 'prompt_too_long', attempt: 2 },
    ])
    expect(bench.asked('compact').map(({ status }) => status)).toEqual([400, 400, 200])
  },
)

test('a refusal because of size is traced, with its outcome', async () => {
  const { ran } = await filled({}, {}, 3, async (one) => {
    one.simulator.addFaults([{ match: { nth: 3 }, fault: { type: 'prompt_too_long', format: 'anthropic' } }])
  })
  expect(named(ran, 'overflow')).toMatchObject([{ reason: 'refused', sentTokens: expect.any(Number) }])
  expect(named(ran, 'auto-compact')).toMatchObject([{ reason: 'compacted', cause: 'overflow' }])
})

let refused: ReturnType<typeof filled> | undefined

/** A compaction with hooks, whose first way to a summary is refused. One run for all who only look at what it told. */
async function refusedOnce(): ReturnType<typeof filled> {
  refused ??= filled({}, {}, 8, async (one) => {
    const hook = { hooks: [{ type: 'command', command: 'echo Keep the names.' }] }
    await put(join(one.home, 'settings.json'), JSON.stringify({ hooks: { PreCompact: [hook] } }))
    one.simulator.addFaults([
      { match: { bodyContains: SUMMARY_ASKED }, times: 1, fault: { type: 'status', status: 400 } },
    ])
  })
  return await refused
}

/** A session that fills a small window. */
async function filled(
  flags: { readonly [flag: string]: boolean } = {},
  env: { readonly [name: string]: string } = {},
  answers = 8,
  prepare: (bench: CommandBench) => Promise<void> = async () => undefined,
): Promise<{ readonly bench: CommandBench; readonly ran: CommandRun }> {
  const bench = await createCommandBench()
  await setFlags(bench, { 'server-compaction': false, 'background-calls': false, ...flags })
  bench.simulator.addSteps([
    { ...summaryStep('They write long answers.'), times: 9 },
    ...[...longAnswers('long', answers), { content: [text('Done.')] }].map((step) => ({
      ...step,
      when: { source: 'main' },
    })),
  ])
  await prepare(bench)
  return { bench, ran: await bench.run(['-p', 'write', '--debug'], { ...ENV, ...env }) }
}

function named({ traces }: CommandRun, name: string): readonly JsonObject[] {
  return traces.filter((event) => event['name'] === name)
}
