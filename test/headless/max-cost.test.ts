import { expect, test } from 'vitest'

import { createHostileBench, GOOD, type HostileBench } from '../kit/hostile/hostile-bench.ts'
import { sentBody } from '../kit/headless.ts'

// A limit in dollars holds before anything is sent: for the conversation, for summaries and for what goes on beside it.

interface Result {
  readonly subtype: string
  readonly is_error: boolean
  readonly result: string
  readonly total_cost_usd: number
}

test('a limit too low for any request sends nothing, says what the request would cost, and is not a success', async () => {
  const bench = await createHostileBench()
  const { exit, result } = await run(bench, ['-p', 'hello', '--max-cost', '0.0001'])
  expect({ exit, ...result }).toMatchObject({
    exit: 1,
    subtype: 'error_max_budget_usd',
    is_error: true,
    total_cost_usd: 0,
    result: expect.stringMatching(
      /^the next request costs about \$0\.0\d+, and --max-cost leaves \$0\.00010\. Raise it and resume the session to continue$/,
    ),
  })
  expect(bench.simulator.requests()).toEqual([])
  const raised = await run(bench, ['-p', 'again', '--continue', '--max-cost', '1'])
  expect({ exit: raised.exit, result: raised.result.result }).toEqual({ exit: 0, result: GOOD })
})

test('what is left limits how long an answer may be', async () => {
  const bench = await createHostileBench()
  await run(bench, ['-p', 'hello', '--max-cost', '0.1'])
  const { max_tokens: asked } = sentBody(bench, 0)
  const [first] = bench.simulator.requests()
  const outputUsd = 20 / 1_000_000
  expect(Number(asked) * outputUsd).toBeLessThan(0.1 - (first?.cost_usd ?? 0) + 0.02)
  expect(Number(asked)).toBeLessThan(5_000)
  expect(Number(asked)).toBeGreaterThan(1_000)
})

test('turns end at the limit: no further request is sent, and no more than the limit was spent', async () => {
  for (const limit of [0.1, 0.17]) {
    const bench = await createHostileBench()
    let ended: Result | undefined
    for (let turn = 0; turn < 12 && !ended; turn++) {
      const more = turn > 0 ? ['--continue'] : []
      const prompt = `turn ${turn}: ${'some words '.repeat(2_000)}`
      const { exit, result } = await run(bench, ['-p', prompt, ...more, '--max-cost', String(limit)])
      if (exit !== 0) ended = result
    }
    const spent = bench.simulator.stats().cost_usd
    expect(ended?.subtype).toBe('error_max_budget_usd')
    expect({ limit, spent, isOver: spent > limit }).toMatchObject({ isOver: false })
    // Nor does it end long before: what is left does not pay for one more.
    expect(limit - spent).toBeLessThan(0.06)
  }
})

async function run(bench: HostileBench, args: readonly string[]): Promise<{ exit: number; result: Result }> {
  const { exit, out } = await bench.run([...args, '--output-format', 'json'])
  return { exit, result: JSON.parse(out) as Result }
}
