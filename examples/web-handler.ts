// A web handler that keeps a conversation per user, in files: it is there again after a restart. A `fetch` function runs anywhere.
//   node --conditions=x-source examples/web-handler.ts

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Anthropic from '@anthropic-ai/sdk'
import { createAgent } from 'palimpsest'
import { fileStore } from 'palimpsest/node'
import { createSimulator } from 'palimpsest/simulator'

const simulator = createSimulator({
  script: [
    { content: [{ type: 'text', text: 'Noted: blue.' }] },
    { content: [{ type: 'text', text: 'Noted: green.' }] },
    { content: [{ type: 'text', text: 'Blue.' }] },
  ],
})
const client = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})
const folder = await mkdtemp(join(tmpdir(), 'palimpsest-web-'))
const store = fileStore(folder)

async function handler(request: Request): Promise<Response> {
  const user = new URL(request.url).pathname.slice(1)
  const agent = createAgent({ client, model: 'claude-sonnet-5-5', store, id: user })
  let answer = ''
  for await (const event of agent.send(await request.text()))
    if (event.type === 'text-delta') answer += event.text
  await agent.close()
  return new Response(answer)
}

const ask = async (user: string, body: string): Promise<string> =>
  await (await handler(new Request(`http://shop/${user}`, { method: 'POST', body }))).text()
const [ada, bob] = ['c0ffee00-0000-4000-8000-000000000001', 'c0ffee00-0000-4000-8000-000000000002']
console.log(await ask(ada, 'My colour is blue.'))
console.log(await ask(bob, 'My colour is green.'))
console.log(await ask(ada, 'Which colour is mine?'))
await rm(folder, { recursive: true })
