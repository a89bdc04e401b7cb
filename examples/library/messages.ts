import Anthropic from '@anthropic-ai/sdk'
import { createAgent, createPost, type AgentTool } from 'palimpsest'
import { createSimulator } from 'palimpsest/simulator'

const tell = { to: 'ben', text: 'The parser is done: your turn.' }
const simulator = createSimulator({
  script: [
    { content: [{ type: 'tool_use', name: 'tell', input: tell }], stop_reason: 'tool_use' },
    { content: [{ type: 'text', text: 'I told Ben.' }] },
    { content: [{ type: 'text', text: 'Then I write the tests.' }] },
  ],
})
const client = new Anthropic({
  apiKey: 'none',
  fetch: (input, init) => simulator.fetch(new Request(input, init)),
})
const model = 'claude-sonnet-5-5'

const post = createPost()
const ben = createAgent({ client, model, mail: post('ben') })
const remove = ben.onMessage(({ from, summary }) => console.log(`${from} to ben: ${summary}`))

// So that the model can write, too.
const tool: AgentTool = {
  name: 'tell',
  description: 'Writes to another agent.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' }, text: { type: 'string' } } },
  run: async ({ to, text }) => {
    if (typeof to !== 'string' || typeof text !== 'string') return 'Say to whom, and what.'
    await ann.message(to, text)
    return 'Sent.'
  },
}
const ann = createAgent({ client, model, mail: post('ann'), tools: [tool] })

for await (const event of ann.send('Tell Ben when the parser is done.'))
  if (event.type === 'text-delta') console.log(event.text)
// Without words: Ben answers what was written to him.
for await (const event of ben.send()) if (event.type === 'text-delta') console.log(event.text)
remove()
await ann.close()
await ben.close()
