import { createContext, type Context } from 'palimpsest'

import { print, type Figure } from './figure.ts'

// One more message of a history that its owner keeps: what `prepare` and `observe` cost per message that was added, for objects that are the same
// as before and for copies of all of them; in a history of talk, and in two full of results of tools.

const SHORT = 50
const LONG = 5_000
/** Of rounds, one of each length by turns: whatever else the machine does then is shared by both. */
const SAMPLES = 30
const WARM_UP = 8
/** Of one sample: few enough that a short history stays short. */
const ROUNDS = 20

interface Block {
  readonly type: string
  readonly [member: string]: unknown
}

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: Block[]
}

/** Of one message, about. */
const TOKENS = 16

/** What stands in the messages at a place of a history. */
interface Kind {
  readonly name: string
  readonly model: string
  readonly asked: (place: number) => Block
  readonly answered: (place: number) => Block
  readonly stop: 'end_turn' | 'tool_use'
}

const TALK: Kind = {
  name: 'talk',
  model: 'claude-opus-5-5',
  asked: (place) => ({ type: 'text', text: `Question ${place}: what is the tide?` }),
  answered: (place) => ({ type: 'text', text: `Answer ${place}: it is high.` }),
  stop: 'end_turn',
}

/** But for the first, every message of the user is the result of the call before it. */
const TOOLS: Kind = {
  name: 'results of tools',
  model: 'claude-opus-5-5',
  asked: (place) =>
    place === 0
      ? TALK.asked(place)
      : { type: 'tool_result', tool_use_id: `toolu_${place - 1}`, content: `tide ${place}: high` },
  answered: (place) => ({ type: 'tool_use', id: `toolu_${place}`, name: 'tide', input: { at: place } }),
  stop: 'tool_use',
}

/** The same with results that may be cleared, in a window where all of them stay in view. */
const READS: Kind = {
  ...TOOLS,
  name: 'files that were read',
  model: 'claude-opus-5-5[1m]',
  answered: (place) => ({
    type: 'tool_use',
    id: `toolu_${place}`,
    name: 'Read',
    input: { file_path: `/tides/${place}` },
  }),
}

interface Kept {
  readonly context: Context
  readonly kind: Kind
  messages: Message[]
  answers: number
  /** Of the prompt that is cached. */
  cached: number
}

export async function benchContext(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const kind of [TALK, TOOLS, READS]) figures.push(...(await figuresOf(kind)))
  const copies = { half: await copiedRound(LONG / 2), whole: await copiedRound(LONG) }
  return [
    ...figures,
    { name: `the same, all of ${LONG / 2} copied`, value: copies.half, unit: 'ms of CPU' },
    { name: `the same, all of ${LONG} copied`, value: copies.whole, unit: 'ms of CPU' },
    // Twice as many messages: twice the work, and room for noise.
    { name: 'copies of twice as many', value: copies.whole / copies.half, unit: '×', atMost: 3 },
  ]
}

async function figuresOf(kind: Kind): Promise<Figure[]> {
  const samples: Sample[] = []
  const long = await conversation(LONG, kind)
  for (let i = 0; i < WARM_UP + SAMPLES; i++) {
    const sample = await costOf(await conversation(SHORT, kind), long)
    if (i >= WARM_UP) samples.push(sample)
  }
  return [
    {
      name: `one message more at ${SHORT}, ${kind.name}`,
      value: median(samples.map(({ short }) => short)),
      unit: 'ms of CPU',
    },
    {
      name: `one message more at ${LONG}, ${kind.name}`,
      value: median(samples.map(({ long: at }) => at)),
      unit: 'ms of CPU',
    },
    {
      name: `long / short, ${kind.name}`,
      value: median(samples.map(({ short, long: at }) => at / short)),
      unit: '×',
      atMost: 1.5,
    },
  ]
}

interface Sample {
  short: number
  long: number
}

/** Of one message more. A machine that does other things too spends its time, not this process's. */
async function costOf(short: Kept, long: Kept): Promise<Sample> {
  for (let i = 0; i < 3; i++) await oneRound(short)
  const sum: Sample = { short: 0, long: 0 }
  for (let i = 0; i < ROUNDS; i++) {
    sum.short += await timedRound(short)
    sum.long += await timedRound(long)
  }
  return { short: sum.short / ROUNDS, long: sum.long / ROUNDS }
}

/** A round is two messages. */
async function timedRound(kept: Kept): Promise<number> {
  const begin = cpuMs()
  await oneRound(kept)
  return (cpuMs() - begin) / 2
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** A history that is there already, asked and answered once. */
async function conversation(messages: number, kind: Kind): Promise<Kept> {
  const context = createContext({ model: kind.model })
  const kept: Kept = { context, kind, messages: [], answers: 0, cached: 0 }
  while (kept.messages.length < messages - 1) {
    kept.messages.push(question(kept))
    kept.messages.push(answer(kept))
  }
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
    stop_reason: kept.kind.stop,
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
  const kept = await conversation(messages, TALK)
  const times: number[] = []
  for (let i = 0; i < 15; i++) {
    kept.messages = structuredClone(kept.messages)
    times.push(await timedRound(kept))
  }
  return median(times)
}

function question({ messages, kind }: Kept): Message {
  return { role: 'user', content: [kind.asked(messages.length)] }
}

function answer(kept: Kept): Message {
  kept.answers++
  return { role: 'assistant', content: [kept.kind.answered(kept.messages.length)] }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

if (import.meta.main) process.exitCode = print('A history of the owner', await benchContext()) ? 0 : 1
