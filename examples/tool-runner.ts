// The SDK's own tool runner, 300 steps in a window of 60,000 tokens that refuses what does not fit. One line makes the difference.
//   node --conditions=x-source examples/tool-runner.ts [STEPS]

import Anthropic from '@anthropic-ai/sdk'
import { withPalimpsest } from 'palimpsest/anthropic'
import { createSimulator } from 'palimpsest/simulator'
import { findModelFacts } from 'palimpsest/wire'

const STEPS = Number(process.argv[2] ?? 300)
const WINDOW = 60_000
const MODEL = 'claude-sonnet-5-5'

const simulator = createSimulator({
  models: [findModelFacts(MODEL) ?? []].flat().map((facts) => ({ ...facts, contextWindow: WINDOW })),
  script: [
    ...Array.from({ length: STEPS }, (_, page) => ({
      content: [{ type: 'tool_use' as const, name: 'look_up', input: { page } }],
      stop_reason: 'tool_use' as const,
    })),
    { content: [{ type: 'text' as const, text: 'That was all of it.' }] },
  ],
})
const plain = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})

const client = withPalimpsest(plain, { window: WINDOW }) // without this line the run fails
const last = await client.beta.messages
  .toolRunner({
    model: MODEL,
    max_tokens: 1_000,
    system: 'You read catalogues. '.repeat(400),
    messages: [{ role: 'user', content: 'Read the catalogue from its first page to its last.' }],
    tools: [
      {
        name: 'look_up',
        description: 'A page of the catalogue.',
        input_schema: { type: 'object', properties: { page: { type: 'number' } } },
        parse: (input: unknown) => input,
        run: (input: unknown) =>
          Array.from(
            { length: 24 },
            (_, line) => `${JSON.stringify(input)} item ${line}: ${line * 7919}`,
          ).join('\n'),
      },
    ],
  })
  .runUntilDone()
for (const block of last.content) if (block.type === 'text') console.log(block.text)
const { requests, refused, hit_rate: hitRate } = simulator.stats()
const refusals = Object.values(refused).reduce((sum, count) => sum + count, 0)
console.log(`${requests} requests, ${refusals} refused`)
console.log(`${Math.round(100 * hitRate)}% of the tokens came from the cache`)
