import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { askForSummaries, longAnswers, summaryStep } from '../kit/compacting.ts'
import { createBench, jsonObject, sentBody, text } from '../kit/headless.ts'

// Windows that turn out smaller, from outside: another model's, and the one that a refusal names.

test('a stored session that does not fit another model is compacted by its own first; a limit that a refusal names is known to the next run', async () => {
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

  bench.simulator.addFaults([{ fault: { type: 'prompt_too_long', format: 'anthropic' } }])
  bench.simulator.addSteps([summaryStep('SUMMARY once more.'), { content: [text('Here.')] }])
  const refused = await bench.run(['-p', 'and on', '--continue', '--model', 'claude-opus-5-5'])
  expect(refused.exit).toBe(0)
  const limit = Number(/is ([\d,]+) tokens, as the provider says/.exec(refused.err)?.[1]?.replaceAll(',', ''))
  const file = jsonObject(await readFile(join(bench.home, 'learned-windows.json'), 'utf8'))
  expect(Object.values(file['learned'] ?? {})).toEqual([limit])
  const context = jsonObject((await bench.run(['context', '--json'])).out)
  expect(JSON.stringify(context['window'])).toContain(String(limit))
  const costs = Object.entries(Object(context['cost_by_source']) as { readonly [source: string]: number })
  expect(costs.map(([source]) => source)).toEqual(['main', 'compact'])
  expect(costs.reduce((sum, [, usd]) => sum + usd, 0)).toBeCloseTo(Number(context['cost_usd']), 9)
})
