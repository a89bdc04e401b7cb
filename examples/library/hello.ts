import Anthropic from '@anthropic-ai/sdk'
import { withPalimpsest } from 'palimpsest/anthropic'
import { createSimulator } from 'palimpsest/simulator'

// Plays the provider, so that this runs without a key. With one: `new Anthropic()`.
const simulator = createSimulator({ script: [{ content: [{ type: 'text', text: 'Hello to you.' }] }] })
const plain = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})

const client = withPalimpsest(plain, { window: 60_000 })
const answer = await client.messages.create({
  model: 'claude-sonnet-5-5',
  max_tokens: 1_000,
  messages: [{ role: 'user', content: 'Hello.' }],
})
for (const block of answer.content) if (block.type === 'text') console.log(block.text)
