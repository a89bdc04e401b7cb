import { createContext, type Context } from 'palimpsest'

import { print, type Figure } from './figure.ts'

// One more message of a history that its owner keeps: what `prepare` and `observe` cost per message that was added, for objects that are the same
// as before and for copies of all of them.

const SHORT = 50
const LONG = 5_000
const SAMPLES = 15
const WARM_UP = 5
/** Of one sample: few enough that a short history stays short. */
const ROUNDS = 20

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: { readonly type: 'text'; readonly text: string }[]
}

/** Of one message, about. */
const TOKENS = 16

interface Kept {
  readonly context: Context
  messages: Message[]
  answers: number
  /** Of the prompt that is cached. */
  cached: number
}

export async function benchContext(): Promise<Figure[]> {
  const times: { short: number[]; long: number[] } = { short: [], long: [] }
  const long = await conversation(LONG)
  for (let i = 0; i < WARM_UP + SAMPLES; i++) {
    const sample = { short: await costOf(await conversation(SHORT)), long: await costOf(long) }
    if (i < WARM_UP) continue
    times.short.push(sample.short)
    times.long.push(sample.long)
  }
  const [shortMs, longMs] = [median(times.short), median(times.long)]
  const copies = { half: await copiedRound(LONG / 2), whole: await copiedRound(LONG) }
  return [
    { name: `one message more at ${SHORT}`, value: shortMs, unit: 'ms of CPU' },
    { name: `one message more at ${LONG}`, value: longMs, unit: 'ms of CPU' },
    { name: 'long / short', value: longMs / shortMs, unit: '×', atMost: 1.5 },
    { name: `the same, all of ${LONG / 2} copied`, value: copies.half, unit: 'ms of CPU' },
    { name: `the same, all of ${LONG} copied`, value: copies.whole, unit: 'ms of CPU' },
    // Twice as many messages: twice the work, and room for noise.
    { name: 'copies of twice as many', value: copies.whole / copies.half, unit: '×', atMost: 3 },
  ]
}

/** Of one message more. A machine that does other things too spends its time, not this process's. */
async function costOf(kept: Kept): Promise<number> {
  for (let i = 0; i < 3; i++) await oneRound(kept)
  const begin = cpuMs()
  for (let i = 0; i < ROUNDS; i++) await oneRound(kept)
  return (cpuMs() - begin) / ROUNDS / 2
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** A history that is there already, asked and answered once. */
async function conversation(messages: number): Promise<Kept> {
  const context = createContext({ model: 'claude-opus-5-5' })
  const kept: Kept = { context, messages: [], answers: 0, cached: 0 }
  while (kept.messages.length < messages - 1) kept.messages.push(question(kept), answer(kept))
  await oneRound(kept)
  return kept
}

/** A question and its answer: two messages. */
async function oneRound(kept: Kept): Promise<void> {
  kept.messages.push(question(kept))
  await kept.context.prepare({ system: 'You help.', messages: kept.messages, max_tokens: 1_000 })
  const said = answer(kept)
  await kept.context.observe({
    id: `msg_${kept.answers}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: said.content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: usageOf(kept),
  })
  kept.messages.push(said)
}

/** All that the last prompt held is read, the rest is written. */
function usageOf(kept: Kept) {
  const read = kept.cached
  kept.cached = TOKENS * kept.messages.length
  return {
    input_tokens: 0,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: kept.cached - read,
    output_tokens: TOKENS,
  }
}

async function copiedRound(messages: number): Promise<number> {
  const kept = await conversation(messages)
  const times: number[] = []
  for (let i = 0; i < 15; i++) {
    kept.messages = structuredClone(kept.messages)
    const begin = cpuMs()
    await oneRound(kept)
    times.push((cpuMs() - begin) / 2)
  }
  return median(times)
}

function question({ messages }: Kept): Message {
  return { role: 'user', content: [{ type: 'text', text: `Question ${messages.length}: what is the tide?` }] }
}

function answer(kept: Kept): Message {
  kept.answers++
  return {
    role: 'assistant',
    content: [{ type: 'text', text: `Answer ${kept.messages.length}: it is high.` }],
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

if (import.meta.main) process.exitCode = print('A history of the owner', await benchContext()) ? 0 : 1
