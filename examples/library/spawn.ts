import Anthropic from '@anthropic-ai/sdk'
import { createAgent, type AgentTool } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

const counter = { when: { source: 'subagent:counter' } }
const fork = { when: { source: 'subagent:fork' } }
const simulator = createSimulator({
  script: [
    { content: [{ type: 'text', text: 'Aisle 1 has bolts, aisle 2 has nuts.' }] },
    { ...counter, content: [{ type: 'tool_use', name: 'stock', input: {} }], stop_reason: 'tool_use' },
    { ...counter, content: [{ type: 'text', text: 'There are 42 bolts.' }] },
    { ...fork, times: 2, content: [{ type: 'text', text: 'The aisle is in order.' }] },
  ],
})
const client = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})

const stock: AgentTool = {
  name: 'stock',
  description: 'How many bolts are left.',
  inputSchema: { type: 'object', properties: {} },
  isReadOnly: true,
  run: () => '42',
}
const order: AgentTool = { ...stock, name: 'order', description: 'Orders more.', isReadOnly: false }

const agent = createAgent({
  client,
  model: 'claude-sonnet-5-5',
  system: 'You keep a shop.',
  tools: [stock, order],
  agents: {
    types: { counter: { prompt: 'You count.', tools: ['stock'], model: 'haiku', maxTurns: 5 } },
    maxCostUsd: 1,
  },
})
for await (const _ of agent.send('What is where?'));

// An agent of a type knows nothing of the conversation, and has only what its type names of your tools.
const counted = await agent.spawn('counter', 'Count the bolts.')
console.log(`${counted.state}: ${counted.text}`)

// Forks know all that was said, from the cache. Those that start together share it.
const parts = await Promise.all([1, 2].map(async (n) => await agent.spawn('fork', `Check aisle ${n}.`)))
for (const { description, text } of parts) console.log(`${description} ${text}`)

const total = [counted, ...parts].reduce((sum, { costUsd }) => sum + costUsd, 0)
console.log(total < 0.05 ? 'Less than five cents.' : 'More than five cents.')
await agent.close()
