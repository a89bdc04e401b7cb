import type { Json, JsonObject } from '../../../packages/palimpsest/src/wire/json.ts'

// A good answer as the Messages API streams it, and what can be made of it by changing one thing. The events are data, so that every
// place in them is found, not listed.

export interface StreamedEvent {
  readonly name: string
  readonly data: Json
}

export const SAID = 'Said by the hostile server.'
/** A call that costs no process. */
const CALLED = 'Read'
/** What it is called with. */
export const GIVEN = '{"file_path":"none.txt"}'

/** Words alone, or words and a call. */
export function goodEvents(kind: 'text' | 'call'): readonly StreamedEvent[] {
  const usage = { input_tokens: 3_000, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = {
    id: 'msg_hostile',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  const call = { type: 'tool_use', id: 'toolu_hostile', name: CALLED, input: {} }
  const block = (index: number, content: JsonObject, delta: JsonObject) => [
    { type: 'content_block_start', index, content_block: content },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ]
  const text = block(0, { type: 'text', text: '' }, { type: 'text_delta', text: SAID })
  const input = { type: 'input_json_delta', partial_json: GIVEN }
  const events: readonly (JsonObject & { readonly type: string })[] = [
    { type: 'message_start', message },
    { type: 'ping' },
    ...text,
    ...(kind === 'call' ? block(1, call, input) : []),
    {
      type: 'message_delta',
      delta: { stop_reason: kind === 'call' ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ]
  return events.map((data) => ({ name: data.type, data }))
}

/** The same as chat completions stream it: data alone, in pieces, and a word at the end. */
export function goodChunks(kind: 'text' | 'call'): readonly StreamedEvent[] {
  const chunk = (choice: JsonObject): JsonObject => ({
    id: 'chatcmpl-hostile',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: null, ...choice }],
  })
  const named = { index: 0, id: 'call_0', type: 'function', function: { name: CALLED, arguments: '' } }
  const calls = [
    chunk({ delta: { tool_calls: [named] } }),
    chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: GIVEN } }] } }),
  ]
  const data: readonly JsonObject[] = [
    chunk({ delta: { role: 'assistant', content: '' } }),
    chunk({ delta: { content: SAID } }),
    ...(kind === 'call' ? calls : []),
    chunk({ delta: {}, finish_reason: kind === 'call' ? 'tool_calls' : 'stop' }),
    {
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens: 3_000, completion_tokens: 9, total_tokens: 3_009 },
    },
  ]
  return data.map((one, i) => ({ name: `chunk ${i}`, data: one }))
}

/** How answers are streamed at one kind of server. */
export interface Dialect {
  readonly events: (kind: 'text' | 'call') => readonly StreamedEvent[]
  readonly spell: (events: readonly StreamedEvent[], how?: Spelling) => string
}

export const MESSAGES: Dialect = { events: goodEvents, spell }

export const CHAT: Dialect = {
  events: goodChunks,
  spell: (events, how) =>
    `${spell(events, { ...how, names: false })}data: [DONE]${(how?.lineEnd ?? '\n').repeat(2)}`,
}

export interface Spelling {
  readonly lineEnd?: '\n' | '\r\n' | '\r'
  /** Without it, data lines alone. */
  readonly names?: boolean
  readonly space?: boolean
  /** One data line per member. */
  readonly spread?: boolean
}

export function spell(events: readonly StreamedEvent[], how: Spelling = {}): string {
  const { lineEnd = '\n', names = true, space = true, spread = false } = how
  const field = (name: string, value: string): string => `${name}:${space ? ' ' : ''}${value}${lineEnd}`
  return events
    .map(({ name, data }) => {
      const text = spread ? JSON.stringify(data, null, 1) : JSON.stringify(data)
      const lines = text.split('\n').map((line) => field('data', line))
      return `${names ? field('event', name) : ''}${lines.join('')}${lineEnd}`
    })
    .join('')
}

/** A place in a value: keys and indexes from its root. */
export type Place = readonly (string | number)[]

export function placesIn(value: Json, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [at]
  const inner = Object.entries(value).flatMap(([key, one]) => placesIn(one ?? null, [...at, key]))
  return [at, ...inner]
}

/** Absent: the place is left out. */
export const ABSENT = Symbol('absent')

export function withValue(value: Json, place: Place, given: Json | typeof ABSENT): Json {
  const [key, ...rest] = place
  if (key === undefined) return given === ABSENT ? null : given
  if (Array.isArray(value))
    return value.map((one: Json, i) => (i === Number(key) ? withValue(one, rest, given) : one))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, one]): [string, Json][] => {
    if (name !== key) return [[name, one ?? null]]
    if (rest.length === 0 && given === ABSENT) return []
    return [[name, withValue(one ?? null, rest, given)]]
  })
  return Object.fromEntries(entries)
}
