import Anthropic from '@anthropic-ai/sdk'
import { createAgent, type AgentTool } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

const simulator = createSimulator({
  script: [
    { content: [{ type: 'tool_use', name: 'stock', input: { item: 'bolts' } }], stop_reason: 'tool_use' },
    { content: [{ type: 'text', text: 'There are 42 bolts.' }] },
    { content: [{ type: 'tool_use', name: 'order', input: { item: 'bolts' } }], stop_reason: 'tool_use' },
    { content: [{ type: 'text', text: 'I ordered none.' }] },
  ],
})
const client = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})

const stock: AgentTool = {
  name: 'stock',
  description: 'How many of an item are left.',
  inputSchema: { type: 'object', properties: { item: { type: 'string' } } },
  isReadOnly: true, // may run beside others
  run: ({ item }) => `42 of ${JSON.stringify(item)}`,
}
const order: AgentTool = {
  name: 'order',
  description: 'Orders more of an item.',
  inputSchema: { type: 'object', properties: { item: { type: 'string' } } },
  run: ({ item }) => `ordered ${JSON.stringify(item)}`,
}

const agent = createAgent({
  client,
  model: 'claude-sonnet-5-5',
  tools: [stock, order],
  permit: async ({ name }) => (name === 'order' ? { allow: false, reason: 'not today' } : { allow: true }),
})
for (const words of ['How many bolts are left?', 'Order some.'])
  for await (const event of agent.send(words)) {
    if (event.type === 'tool-end') console.log(`${event.name}${event.denied ? `: ${event.denied}` : ''}`)
    if (event.type === 'text-delta') process.stdout.write(event.text)
    if (event.type === 'turn-end') process.stdout.write('\n')
    if (event.type === 'turn-end' && event.end.reason === 'failed') console.error(event.end.message)
  }
await agent.close()
