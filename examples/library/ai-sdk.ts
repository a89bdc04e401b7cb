import { createAnthropic } from '@ai-sdk/anthropic'
import { isStepCount, jsonSchema, tool, ToolLoopAgent, wrapLanguageModel } from 'ai'
import { palimpsest } from 'palimpsest/ai-sdk'
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
const anthropic = createAnthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})

const agent = new ToolLoopAgent({
  model: wrapLanguageModel({
    model: anthropic('claude-sonnet-5-5'),
    middleware: palimpsest({ window: 20_000 }),
  }),
  tools: {
    read_page: tool({
      description: 'One page of the book.',
      inputSchema: jsonSchema<{ page: number }>({ type: 'object', properties: { page: { type: 'number' } } }),
      execute: ({ page }) => `${page} ${'It was a long night. '.repeat(400)}`,
    }),
  },
  stopWhen: isStepCount(20),
})
const { text, steps } = await agent.generate({ prompt: 'Read the book.' })
console.log(text)
const largest = Math.max(...simulator.requests().map(({ input_tokens }) => input_tokens))
console.log(`${steps.length} steps, the largest request below 20,000 tokens: ${largest < 20_000}`)
