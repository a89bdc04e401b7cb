import Anthropic from '@anthropic-ai/sdk'
import { withPalimpsest } from 'palimpsest/anthropic'
import { createSimulator } from 'palimpsest/simulator'

const simulator = createSimulator({
  script: [
    ...Array.from({ length: 12 }, (_, page) => ({
      content: [{ type: 'tool_use' as const, name: 'read_page', input: { page } }],
      stop_reason: 'tool_use' as const,
    })),
    { content: [{ type: 'text' as const, text: 'I have read it all.' }] },
  ],
})
const plain = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})

const client = withPalimpsest(plain, {
  window: 20_000,
  onConversation: () => console.log('a conversation begins'),
})
const runner = client.beta.messages.toolRunner({
  model: 'claude-sonnet-5-5',
  max_tokens: 1_000,
  messages: [{ role: 'user', content: 'Read the book.' }],
  tools: [
    {
      name: 'read_page',
      description: 'One page of the book.',
      input_schema: { type: 'object', properties: { page: { type: 'number' } } },
      parse: (input: unknown) => input,
      run: (input: unknown) => `${JSON.stringify(input)} ${'It was a long night. '.repeat(400)}`,
    },
  ],
})
const last = await runner.runUntilDone()
for (const block of last.content) if (block.type === 'text') console.log(block.text)
const largest = Math.max(...simulator.requests().map(({ input_tokens }) => input_tokens))
console.log(`${simulator.requests().length} requests, the largest below 20,000 tokens: ${largest < 20_000}`)
