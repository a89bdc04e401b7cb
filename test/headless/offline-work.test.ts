import { expect, test } from 'vitest'

import { createInProcess } from '../kit/in-process.ts'

interface Result {
  readonly num_turns: number
  readonly result: string
  readonly usage: { readonly output_tokens: number }
}

test('offline, a request to change something is answered at once with what to set, and nothing is searched', async () => {
  const { run } = await createInProcess()
  const { exit, out } = await run([
    '-p',
    'Fix the bug in parser.ts and run the tests',
    '--output-format',
    'json',
  ])
  const { num_turns, result, usage }: Result = JSON.parse(out)
  expect({ exit, num_turns }).toEqual({ exit: 0, num_turns: 1 })
  expect(result).toMatch(/^I cannot do that: .*neither changes files nor runs commands/)
  expect(result).toContain('ANTHROPIC_API_KEY')
  expect(usage.output_tokens).toBeLessThan(150)
})
