// A managed agent in ten lines: your client, your tools. The simulator stands in for the provider, so it runs without a key.
//   node --conditions=x-source examples/agent-in-ten-lines.ts

import Anthropic from '@anthropic-ai/sdk'
import { createAgent } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

const simulator = createSimulator({
  script: [
    { content: [{ type: 'tool_use', name: 'stock', input: { item: 'bolts' } }], stop_reason: 'tool_use' },
    { content: [{ type: 'text', text: 'There are 42 bolts left.' }] },
  ],
})
const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))

const client = new Anthropic({ apiKey: 'none', fetch })
const stock = {
  name: 'stock',
  description: 'How many of an item are left.',
  inputSchema: { type: 'object', properties: { item: { type: 'string' } } },
  run: () => '42',
}
const agent = createAgent({ client, model: 'claude-sonnet-5-5', system: 'You keep a shop.', tools: [stock] })
for await (const event of agent.send('How many bolts are left?')) {
  if (event.type === 'text-delta') process.stdout.write(event.text)
  if (event.type === 'turn-end' && event.end.reason === 'failed') console.error(event.end.message)
}
await agent.close()
