import Anthropic from '@anthropic-ai/sdk'
import { createContext } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

const simulator = createSimulator({
  script: Array.from({ length: 40 }, (_, i) => ({
    content: [{ type: 'text' as const, text: `Chapter ${i}. ${'It was a long night. '.repeat(200)}` }],
  })),
})
const client = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})

// Your history is yours: a plain list that only you change.
const messages: Anthropic.MessageParam[] = []
const context = createContext({ model: 'claude-sonnet-5-5', window: 20_000 })
for (let i = 0; i < 40; i++) {
  messages.push({ role: 'user', content: `Write chapter ${i}.` })
  const { request, plan } = await context.prepare({ system: 'You write.', messages, max_tokens: 2_000 })
  const answer = await client.messages
    .create(request)
    .catch(async (error: unknown) => await client.messages.create((await context.recover(error)).request))
  await context.observe(answer)
  messages.push({ role: 'assistant', content: answer.content })
  for (const { kind } of plan.actions) console.log(`before chapter ${i}: ${kind}`)
}
const { used, removals } = await context.describe()
console.log(
  `${messages.length} messages of yours, ${removals.length} removals, in the window: ${used < 20_000}`,
)
await context.close()
