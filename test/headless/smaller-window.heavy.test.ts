import { expect, test } from 'vitest'

import { askForSummaries, longAnswers, summaryStep } from '../kit/compacting.ts'
import { createBench, jsonObject, sentBody, text } from '../kit/headless.ts'

// A window that turns out smaller, from outside: another model's. Those that a refusal names are in `learned-limits.test.ts`.

test('a stored session that does not fit another model is first compacted by its own model; both are on the bill', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  bench.simulator.addSteps([...longAnswers('filling', 9), { content: [text('Full.')] }])
  expect(await bench.run(['-p', 'fill', '--model', 'claude-opus-5-5'])).toMatchObject({ exit: 0 })

  bench.simulator.addSteps([summaryStep('SUMMARY for the other model.'), { content: [text('Taken over.')] }])
  const args = ['-p', 'go on', '--continue', '--model', 'claude-sonnet-4-5', '--window', '20000']
  expect(await bench.run(args)).toMatchObject({
    exit: 0,
    err: expect.stringContaining('compacted'),
    out: 'Taken over.\n',
  })
  expect([sentBody(bench, -2)['model'], sentBody(bench, -1)['model']]).toEqual([
    'claude-opus-5-5',
    'claude-sonnet-4-5',
  ])
  expect(JSON.stringify(sentBody(bench, -1)['messages'])).toContain('SUMMARY for the other model.')

  const context = jsonObject((await bench.run(['context', '--json'])).out)
  const costs = Object.entries(Object(context['cost_by_source']) as { readonly [source: string]: number })
  expect(costs.map(([source]) => source)).toEqual(['main', 'compact'])
  expect(costs.reduce((sum, [, usd]) => sum + usd, 0)).toBeCloseTo(Number(context['cost_usd']), 9)
})
