// You keep the history; Palimpsest gives you the request to send for it. The simulator stands in for the provider, so it runs without a key.
//   node --conditions=x-source examples/own-history.ts

import Anthropic from '@anthropic-ai/sdk'
import { createContext } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

const simulator = createSimulator()
const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
const client = new Anthropic({ apiKey: 'none', fetch })

const context = createContext({ model: 'claude-sonnet-5-5', window: 20_000 })
const messages: Anthropic.MessageParam[] = []

async function ask(text: string): Promise<void> {
  messages.push({ role: 'user', content: text })
  const { request, plan } = await context.prepare({ messages, max_tokens: 1_000 })
  const answer = await client.messages.create(request)
  await context.observe(answer)
  messages.push({ role: 'assistant', content: answer.content })
  const done = plan.actions.map(({ kind }) => kind).join(', ') || 'nothing'
  console.log(
    `${messages.length} messages in the history, ${request.messages.length} in the request; done: ${done}`,
  )
}

// The history grows past the window: what no longer fits gives way to a summary, and your array stays as it is.
const report = 'The north harbour was open all day and the tide was high. '.repeat(200)
for (const day of [1, 2, 3, 4, 5, 6]) await ask(`Day ${day}. Never close the north harbour. ${report}`)

// You may edit your history. The request follows it, and keeps as much of the prefix as your edit allows.
messages.splice(-2, 2)
await ask('Which harbour must stay open?')

const { removals } = await context.describe()
console.log(`Left the window: ${removals.map(({ what }) => what).join('; ')}`)
await context.close()
