// A chat in twenty lines: what you type, answered by a managed conversation. Offline it is answered by the simulator.
//   node --conditions=x-source examples/chat.ts
//   echo "Hello" | node --conditions=x-source examples/chat.ts

import { createInterface } from 'node:readline/promises'

import Anthropic from '@anthropic-ai/sdk'
import { createAgent } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

const simulator = createSimulator()
const offline = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})
const client = process.env['ANTHROPIC_API_KEY'] ? new Anthropic() : offline
const agent = createAgent({ client, model: 'claude-sonnet-5-5', system: 'Answer briefly.' })
process.stdout.write('> ')
for await (const line of createInterface({ input: process.stdin })) {
  for await (const event of agent.send(line)) {
    if (event.type === 'text-delta') process.stdout.write(event.text)
    if (event.type === 'turn-end' && event.end.reason === 'failed') console.error(event.end.message)
  }
  const { report } = await agent.context()
  process.stdout.write(`\n(${report.percentLeft}% left)\n> `)
}
await agent.close()
