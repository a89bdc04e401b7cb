// An agent of the AI SDK with a managed model: `palimpsest()` is a middleware, the rest is as you have it.
//   node --conditions=x-source examples/ai-sdk-agent.ts

import { createAnthropic } from '@ai-sdk/anthropic'
import { jsonSchema, tool, ToolLoopAgent, wrapLanguageModel } from 'ai'
import { palimpsest } from 'palimpsest/ai-sdk'
import { createSimulator } from 'palimpsest/simulator'

const simulator = createSimulator({
  script: [
    { content: [{ type: 'tool_use', name: 'stock', input: { item: 'bolts' } }], stop_reason: 'tool_use' },
    { content: [{ type: 'text', text: 'There are 42 bolts left.' }] },
  ],
})
const anthropic = createAnthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})

const agent = new ToolLoopAgent({
  model: wrapLanguageModel({ model: anthropic('claude-sonnet-5-5'), middleware: palimpsest() }),
  instructions: 'You keep a shop.',
  tools: {
    stock: tool({
      description: 'How many of an item are left.',
      inputSchema: jsonSchema<{ item: string }>({ type: 'object', properties: { item: { type: 'string' } } }),
      execute: ({ item }) => `42 ${item}`,
    }),
  },
})
const { text } = await agent.generate({ prompt: 'How many bolts are left?' })
console.log(text)
