import Anthropic from '@anthropic-ai/sdk'
import { createAgent, memoryStore, type AgentStore } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'
import type { Entry } from 'palimpsest/transcript'

// Your database: for each conversation its entries, in the order they came, and the results that left the window.
interface Row {
  readonly entries: Entry[]
  readonly results: [toolUseId: string, text: string][]
}
const rows = new Map<string, Row>()

// What a conversation looks like is worked out in memory; you read and write rows.
const store: AgentStore = {
  open: async (id = crypto.randomUUID(), costOf) => {
    const row = rows.get(id) ?? { entries: [], results: [] }
    rows.set(id, row)
    const kept = await memoryStore().open(id, costOf)
    await kept.append(row.entries)
    for (const [toolUseId, text] of row.results) await kept.blobs.save(toolUseId, text)
    return {
      ...kept,
      ...(await kept.history.load([])),
      append: async (entries) => {
        row.entries.push(...entries) // resolve when they are safe: nothing is acted on before
        await kept.append(entries)
      },
      blobs: {
        ...kept.blobs,
        save: async (toolUseId, text) => {
          row.results.push([toolUseId, text])
          return await kept.blobs.save(toolUseId, text)
        },
      },
    }
  },
  fork: async (id) => {
    const copy = crypto.randomUUID()
    const { entries = [], results = [] } = rows.get(id) ?? {}
    rows.set(copy, { entries: [...entries], results: [...results] })
    return copy
  },
}

const simulator = createSimulator({
  script: [
    { content: [{ type: 'text', text: 'I remember: blue.' }] },
    { content: [{ type: 'text', text: 'Blue.' }] },
  ],
})
const client = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})
const options = { client, model: 'claude-sonnet-5-5', store, id: 'user-7' }
for (const words of ['My colour is blue.', 'Which colour is mine?']) {
  const agent = createAgent(options) // as if each came to another server
  for await (const event of agent.send(words))
    if (event.type === 'text-delta') process.stdout.write(event.text)
  process.stdout.write('\n')
  await agent.close()
}
console.log(
  `${rows.get('user-7')?.entries.filter(({ kind }) => kind === 'message').length} messages in the database`,
)
