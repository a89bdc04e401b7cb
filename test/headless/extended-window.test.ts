import { expect, test } from 'vitest'

import { unknownClaudeFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { longAnswers, settings, setFlags } from '../kit/compacting.ts'
import { sentBody, text } from '../kit/headless.ts'

// `[1m]` behind a model's name asks for its extended window. It is a word of ours: no request names it.

const MODEL = 'claude-next-9'
const BETA = 'context-1m-2025-08-07'
const MAIN = { source: 'main' }

function modelsSent(bench: CommandBench): ReadonlySet<unknown> {
  return new Set(bench.simulator.requests().map((_, i) => sentBody(bench, i)['model']))
}

function betasSent({ asked }: CommandBench): readonly boolean[] {
  return asked('main').map(({ headers }) => headers['anthropic-beta']?.split(',').includes(BETA) ?? false)
}

test('no request contains `[1m]`: conversation, resumed conversation, fork, plain summary, notes', async () => {
  const bench = await createCommandBench({ models: [unknownClaudeFacts(MODEL)] })
  await settings(bench, { workingWindow: 60_000, sessionMemory: 'eager' })
  const summary = { content: [text('<summary>They write.</summary>')], times: 9 }
  bench.simulator.addSteps([
    { ...summary, when: { source: 'compact' } },
    {
      content: [text('<notes># Current state\nThey write.</notes>')],
      when: { source: 'session-memory' },
      times: 99,
    },
    ...longAnswers('long', 7).map((step) => ({ ...step, when: MAIN })),
    { content: [text('Done.')], when: MAIN, times: 9 },
  ])
  const first = await bench.run(['-p', 'write', '--model', `${MODEL}[1m]`])
  expect(first).toMatchObject({ exit: 0 })
  expect(await bench.run(['-p', 'go on', '--continue'])).toMatchObject({ exit: 0 })
  await setFlags(bench, { 'compaction-fork': false, 'compaction-from-notes': false })
  expect(await bench.run(['compact'])).toMatchObject({ exit: 0 })
  expect(await bench.run(['-p', 'on', '--continue', '--model', `${MODEL}[1M]`])).toMatchObject({ exit: 0 })
  expect(await bench.run(['compact', '--model', `${MODEL}[1m]`, 'in', 'short'])).toMatchObject({ exit: 0 })
  expect(modelsSent(bench)).toEqual(new Set([MODEL]))
  expect(new Set(betasSent(bench))).toEqual(new Set([true]))
  expect(bench.asked('session-memory').length).toBeGreaterThan(0)
  expect(bench.asked('compact').length).toBeGreaterThan(0)
  expect(bench.simulator.stats().refused).toEqual({})
  // One prefix: it is not told anew with each run.
  const context = JSON.parse((await bench.run(['context', '--json'])).out)
  expect(context).toMatchObject({ model: MODEL, window: 1_000_000 })
})

test('a model without such a window is asked without it, and the user is told', async () => {
  const bench = await createCommandBench({ script: [{ content: [text('Done.')] }] })
  const ran = await bench.run(['-p', 'go', '--model', 'claude-opus-4-5[1m]'])
  expect(ran).toMatchObject({
    exit: 0,
    err: 'palimpsest: claude-opus-4-5 has no extended window: [1m] is ignored\n',
  })
  expect(modelsSent(bench)).toEqual(new Set(['claude-opus-4-5']))
  expect(betasSent(bench)).toEqual([false])
})

test('a model that has 1M anyway does not need it', async () => {
  const bench = await createCommandBench({ script: [{ content: [text('Done.')] }] })
  expect(await bench.run(['-p', 'go', '--model', 'claude-opus-5[1m]'])).toMatchObject({ exit: 0, err: '' })
  expect(modelsSent(bench)).toEqual(new Set(['claude-opus-5']))
})
