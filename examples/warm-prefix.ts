// A conversation that reads a file, asks about it, then lets go of what it read: what each request costs, and why.
//   node --conditions=x-source examples/warm-prefix.ts

import { appendTo, buildRequest, messageBody, type EntryBody, type Session } from 'palimpsest/engine'
import { createSimulator } from 'palimpsest/simulator'
import { emptyView } from 'palimpsest/transcript'
import { parseResponse, problemText, type WireMessage } from 'palimpsest/wire'

const MODEL = 'claude-sonnet-5-5'
const SYSTEM = JSON.stringify([{ type: 'text', text: 'You are a careful engineer. '.repeat(500) }])
const TOOLS = JSON.stringify([
  { name: 'read', description: 'Reads a file.', input_schema: { type: 'object' } },
])
const FILE = 'export const answer = 42 // and so on\n'.repeat(400)

const simulator = createSimulator({
  clock: 'virtual',
  script: [
    { content: [{ type: 'tool_use', name: 'read', input: { path: 'answer.ts' } }], stop_reason: 'tool_use' },
    { content: [{ type: 'text', text: 'It exports the answer, many times.' }] },
    { content: [{ type: 'text', text: 'It is 42.' }] },
    { content: [{ type: 'text', text: 'Once would be enough.' }] },
  ],
})

let entries = 0
const ports = {
  clock: { now: () => 0, sleep: () => Promise.resolve() },
  newId: () => `entry-${++entries}`,
  transcript: { append: () => Promise.resolve() },
}

let session: Session = { id: 'example', view: emptyView() }
await append({
  kind: 'prefix',
  model: MODEL,
  betas: [],
  system: SYSTEM,
  tools: TOOLS,
  parameters: {},
  reason: 'start',
})

print('request', 'input', 'read', 'written', 'cost', 'why')
await append(messageBody({ role: 'user', content: 'What does answer.ts export?' }, 'user'))
const use = await ask()
const result = { type: 'tool_result', tool_use_id: toolUseId(use), content: FILE }
await append(messageBody({ role: 'user', content: [result] }, 'tool'))
const resultEntry = session.view.leaf ?? ''
await ask()
await append(messageBody({ role: 'user', content: 'And what is the answer?' }, 'user'))
await ask()

// The file is no longer needed. That is an entry too: it declares what it changes, and the next request shows its price.
const standIn = { ...result, content: '[Old tool result content cleared]' }
const replace = [{ at: { entry: resultEntry, index: 0 }, with: [JSON.stringify(standIn)] }]
await append({ kind: 'edit', cause: 'forced', replace, drop: [], freedTokens: 0 })
await append(messageBody({ role: 'user', content: 'How often should it stand there?' }, 'user'))
await ask()

/** One request: built from the view, answered by the simulator, appended with what it was made under. */
async function ask(): Promise<WireMessage> {
  const built = buildRequest(session.view, {
    maxTokens: 1000,
    thinking: { model: MODEL, bindsPrefix: true, readsFrom: [] },
    lifetimes: { system: '5m', messages: '5m' },
    stream: false,
  })
  const parsed = parseResponse(simulator.answer(built.body).body)
  if (!parsed.ok) throw new Error(problemText(parsed.problem))
  const { role, content, usage, id } = parsed.value
  const message: WireMessage = { role, content }
  await append(messageBody(message, 'model', { usage, responseId: id, under: built.under, model: MODEL }))
  const logged = simulator.requests().at(-1)
  const why = logged?.cache_explanation
  print(
    String(simulator.requests().length),
    String(logged?.input_tokens),
    String(usage.cache_read_input_tokens),
    String(usage.cache_creation_input_tokens),
    `$${logged?.cost_usd.toFixed(5)}`,
    why && 'path' in why ? `${why.kind} at ${why.path}` : String(why?.kind),
  )
  return message
}

async function append(body: EntryBody): Promise<void> {
  session = (await appendTo(session, [body], ports)).session
}

function toolUseId({ content }: WireMessage): string {
  const block = typeof content === 'string' ? undefined : content?.find(({ type }) => type === 'tool_use')
  return block && 'id' in block && typeof block.id === 'string' ? block.id : ''
}

function print(...cells: string[]): void {
  console.log(cells.map((cell, i) => (i === cells.length - 1 ? `  ${cell}` : cell.padStart(9))).join(''))
}
