import { expect, test } from 'vitest'

import { createCommandBench } from '../kit/command-bench.ts'
import { setFlags } from '../kit/compacting.ts'
import { sentBody, text } from '../kit/headless.ts'

// Clearing on the server: off unless somebody asks for it, by the flag or by its limit. What has no effect is told.

const SAY = ['-p', 'go', '--model', 'claude-opus-4-5'] as const
const SCRIPT = [{ content: [text('Done.')], times: 9 }]

async function clearsWith(env: { readonly [name: string]: string }, args: readonly string[] = SAY) {
  const bench = await createCommandBench({ script: SCRIPT })
  const { exit, err } = await bench.run(args, env)
  expect(exit).toBe(0)
  return { err, sent: JSON.stringify(sentBody(bench)['context_management'] ?? null) }
}

test('it is off by default', async () => {
  expect(await clearsWith({})).toEqual({ err: '', sent: 'null' })
})

test('a limit turns it on, and the user is told that it has a price', async () => {
  const { err, sent } = await clearsWith({ PALIMPSEST_CONTEXT_MAX_INPUT: '90000' })
  expect(sent).toContain('"trigger":{"type":"input_tokens","value":90000}')
  expect(err).toBe(
    'palimpsest: the provider clears old tool results from 90000 tokens on (PALIMPSEST_CONTEXT_MAX_INPUT). Each time it does, the prompt cache breaks, so this can cost more than what Palimpsest clears by itself\n',
  )
})

test.each([
  [
    'a target without a limit',
    { PALIMPSEST_CONTEXT_TARGET_INPUT: '40000' },
    SAY,
    'PALIMPSEST_CONTEXT_TARGET_INPUT has no effect without PALIMPSEST_CONTEXT_MAX_INPUT, which says at how many tokens the provider begins to clear. Set both',
  ],
  [
    'a nonsensical limit',
    { PALIMPSEST_CONTEXT_MAX_INPUT: 'many' },
    SAY,
    'PALIMPSEST_CONTEXT_MAX_INPUT=many is ignored: it must be a whole number of tokens, such as 120000.',
  ],
  [
    'a model that binds its thinking',
    { PALIMPSEST_CONTEXT_MAX_INPUT: '90000' },
    ['-p', 'go', '--model', 'claude-opus-5-5'],
    'PALIMPSEST_CONTEXT_MAX_INPUT has no effect: claude-opus-5-5 clears nothing on the server',
  ],
])('%s is reported, and nothing is requested from the provider', async (_what, env, args, told) => {
  expect(await clearsWith(env, args)).toEqual({ err: `palimpsest: ${told}\n`, sent: 'null' })
})

test('a conversation that started without it stays without it, and the user is told', async () => {
  const bench = await createCommandBench({ script: SCRIPT })
  await bench.run(SAY)
  const { err } = await bench.run([...SAY, '--continue'], { PALIMPSEST_CONTEXT_MAX_INPUT: '90000' })
  expect(err).toBe(
    'palimpsest: PALIMPSEST_CONTEXT_MAX_INPUT has no effect on this conversation: it began without it, and another request prefix would cost its cache. Start a new one\n',
  )
  expect(sentBody(bench, 1)['context_management']).toBeUndefined()
})

test('the flag alone turns it on, from the warning threshold on', async () => {
  const bench = await createCommandBench({ script: SCRIPT })
  await setFlags(bench, { 'server-clearing': true })
  await bench.run(SAY)
  expect(JSON.stringify(sentBody(bench)['context_management'])).toContain('"value":147000')
})
