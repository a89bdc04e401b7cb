import { buildRequest } from '../packages/palimpsest/src/request/build-request.ts'
import { sizeOf } from '../packages/palimpsest/src/situation/size-of.ts'
import { startCalibration } from '../packages/palimpsest/src/tokens/calibrate.ts'
import type { Entry, MessageEntry } from '../packages/palimpsest/src/transcript/entry.ts'
import { emptyView, step, type View } from '../packages/palimpsest/src/transcript/view.ts'
import { print, type Figure } from './figure.ts'

// One more round of a long conversation: fold its entries, count, build the request. Shown beside one JSON.stringify of the same
// request, in the same run.

const ROUNDS_SHORT = 50
const ROUNDS_LONG = 5_000
const SAMPLES = 1_000
const WARM_UP = 200

const thinking = { model: 'claude-opus-5-5', bindsPrefix: true, readsFrom: [] }
const calibration = startCalibration('claude-4-7')
const options = {
  maxTokens: 32_000,
  thinking,
  lifetimes: { system: '1h', messages: '5m' },
  stream: true,
} as const

export function benchRound(): Figure[] {
  const long = conversation(ROUNDS_LONG)
  const times: { short: number[]; long: number[] } = { short: [], long: [] }
  let short = conversation(ROUNDS_SHORT)
  for (let i = 0; i < WARM_UP + SAMPLES; i++) {
    if (i % ROUNDS_SHORT === 0) short = conversation(ROUNDS_SHORT)
    const sample = { short: oneRound(short), long: oneRound(long) }
    if (i < WARM_UP) continue
    times.short.push(sample.short)
    times.long.push(sample.long)
  }
  const { body } = buildRequest(long.view, options)
  const flattenMs = timeOf(() => Buffer.byteLength(body))
  const parsed: unknown = JSON.parse(body)
  const stringifyMs = timeOf(() => JSON.stringify(parsed).length)
  const [shortMs, longMs] = [median(times.short), median(times.long)]
  return [
    { name: `one round at ${ROUNDS_SHORT} rounds`, value: shortMs, unit: 'ms' },
    { name: `one round at ${ROUNDS_LONG} rounds`, value: longMs, unit: 'ms' },
    { name: `JSON.stringify of the request at ${ROUNDS_LONG} rounds`, value: stringifyMs, unit: 'ms' },
    { name: `body flattened for sending at ${ROUNDS_LONG} rounds`, value: flattenMs, unit: 'ms' },
    { name: 'long / short', value: longMs / shortMs, unit: '×', atMost: 1.5 },
    { name: 'round / stringify', value: longMs / stringifyMs, unit: '×', atMost: 0.05 },
  ]
}

interface Conversation {
  view: View
  under: string
  rounds: number
}

function conversation(rounds: number): Conversation {
  let view = emptyView()
  for (const entry of opening()) view = step(view, entry)
  const made: Conversation = { view, under: '', rounds: 0 }
  while (made.rounds < rounds) oneRound(made)
  return made
}

/** Milliseconds to fold one more round, count and build. Making up the round itself is not timed. */
function oneRound(conversation: Conversation): number {
  const entries = roundEntries(conversation.rounds++, conversation.under)
  const start = performance.now()
  for (const entry of entries) conversation.view = step(conversation.view, entry)
  const tokens = sizeOf(conversation.view, { thinking, calibration })
  const built = buildRequest(conversation.view, options)
  const took = performance.now() - start
  if (tokens <= 0) throw new Error('nothing was counted')
  conversation.under = built.under
  return took
}

function opening(): Entry[] {
  return [
    {
      kind: 'prefix',
      id: 'p',
      parent: null,
      at: 0,
      model: 'claude-opus-5-5',
      betas: [],
      system: JSON.stringify([{ type: 'text', text: 'You are a coding agent. '.repeat(400) }]),
      tools: JSON.stringify([
        { name: 'Read', description: 'Reads a file. '.repeat(200), input_schema: { type: 'object' } },
      ]),
      parameters: { thinking: '{"type":"adaptive"}' },
      reason: 'start',
    },
    entryOf('u', { role: 'user', content: 'Please make the tests pass.' }, 0),
  ]
}

function roundEntries(i: number, under: string): Entry[] {
  const answer = {
    role: 'assistant' as const,
    content: [
      {
        type: 'thinking',
        thinking: `Step ${i}: look at the next file. `.repeat(5),
        signature: `sig${i}`.padEnd(300, 'x'),
      },
      { type: 'text', text: `I will read file ${i} now.` },
      { type: 'tool_use', id: `toolu_${i}`, name: 'Read', input: { file_path: `/src/module-${i}.ts` } },
    ],
  }
  const text = Array.from(
    { length: 40 },
    (_, line) => `${line + 1}\texport const value${i}_${line} = compute(${line}, 'x')`,
  ).join('\n')
  const result = {
    role: 'user' as const,
    content: [{ type: 'tool_result', tool_use_id: `toolu_${i}`, content: text }],
  }
  return [
    {
      ...entryOf(`a${i}`, answer, i),
      origin: 'model',
      responseId: `msg_${i}`,
      model: 'claude-opus-5-5',
      usage: { input_tokens: 1_000 + i * 700, output_tokens: 150 },
      under,
    },
    { ...entryOf(`r${i}`, result, i), origin: 'tool' },
  ]
}

function entryOf(id: string, message: MessageEntry['message'], at: number): MessageEntry {
  return { kind: 'message', id, parent: null, at, origin: 'user', message, json: JSON.stringify(message) }
}

function timeOf(run: () => number): number {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now()
    if (run() < 0) throw new Error('impossible')
    return performance.now() - start
  })
  return median(times)
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

if (import.meta.main) print('one more round', benchRound())
