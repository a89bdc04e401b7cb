import type { TranscriptFile } from '../../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import type { Entry, EntryId, MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { parseMessage } from '../../packages/palimpsest/src/wire/parse.ts'

// A long session of any size, made up round by round: the same seed gives the same bytes. For tests and benchmarks of files.

export interface GenerateOptions {
  readonly bytes: number
  readonly seed?: number
  /** A compaction after so many bytes of messages: 800 KB are some 200,000 tokens. 0: none. */
  readonly boundaryBytes?: number
  /** Characters of a tool result, on average. */
  readonly resultChars?: number
  /** No more messages than these, whatever the size. */
  readonly messagesMax?: number
}

export interface Generated {
  readonly entries: number
  readonly messages: number
  readonly boundaries: number
}

const START_MS = Date.UTC(2026, 0, 1)
const ROUND_MS = 20_000
const KEPT_MESSAGES = 6
/** Appended in one write. */
const BATCH_ENTRIES = 64

/** Appends generated rounds to a new file until it has the wished size. */
export async function generateTranscript(file: TranscriptFile, options: GenerateOptions): Promise<Generated> {
  const counts = { entries: 0, messages: 0, boundaries: 0 }
  let batch: Entry[] = []
  for (const entry of generateEntries(options)) {
    batch.push(entry)
    counts.entries++
    if (entry.kind === 'message') counts.messages++
    if (entry.kind === 'boundary') counts.boundaries++
    if (counts.messages >= (options.messagesMax ?? Infinity)) break
    if (batch.length < BATCH_ENTRIES) continue
    await file.append(batch)
    batch = []
    if (file.size() >= options.bytes) break
  }
  await file.append(batch)
  return counts
}

/** Without end. */
export function* generateEntries(options: GenerateOptions): Generator<Entry> {
  const { seed = 1, boundaryBytes = 800_000, resultChars = 4000 } = options
  const random = randomFrom(seed)
  const recent: EntryId[] = []
  let number = 0
  let parent: EntryId | null = null
  let at = START_MS
  let sinceBoundary = 0

  const place = () => {
    const id = idOf(seed, number++)
    const base = { id, parent, at: (at += ROUND_MS) }
    parent = id
    return base
  }
  const message = (
    origin: MessageEntry['origin'],
    wire: object,
    more: Partial<MessageEntry> = {},
  ): MessageEntry => {
    const json = JSON.stringify(wire)
    const parsed = parseMessage(wire)
    if (!parsed.ok) throw new Error(`not a message: ${json}`)
    sinceBoundary += json.length
    const entry: MessageEntry = { kind: 'message', ...place(), origin, message: parsed.value, json, ...more }
    recent.push(entry.id)
    return entry
  }

  yield {
    kind: 'prefix',
    ...place(),
    model: 'claude-sonnet-5-5',
    betas: [],
    system: JSON.stringify([{ type: 'text', text: words(random, 4000) }]),
    tools: JSON.stringify([
      { name: 'run', description: words(random, 400), input_schema: { type: 'object' } },
    ]),
    parameters: {},
    reason: 'start',
  }
  yield { kind: 'title', ...place(), title: 'A generated session', firstPrompt: 'Go.' }
  yield message('user', { role: 'user', content: 'Go.' })
  for (let round = 0; ; round++) {
    const use = `toolu_${seed}_${round}`
    const usage = {
      input_tokens: 5,
      output_tokens: 200,
      cache_read_input_tokens: Math.round(sinceBoundary / 4),
    }
    const answer = {
      id: `msg_${seed}_${round}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5-5',
      content: [
        { type: 'thinking', thinking: words(random, 300), signature: `sig${round}` },
        { type: 'text', text: words(random, 200) },
        { type: 'tool_use', id: use, name: 'run', input: { command: words(random, 60) } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage,
    }
    const facts = { responseId: answer.id, model: answer.model, usage, requestId: `req_${seed}_${round}` }
    yield message('model', answer, facts)
    const result = {
      type: 'tool_result',
      tool_use_id: use,
      content: words(random, random() * 2 * resultChars),
    }
    yield message('tool', { role: 'user', content: [result] })
    if (boundaryBytes === 0 || sinceBoundary < boundaryBytes) continue

    const kept = recent.slice(-KEPT_MESSAGES)
    const base = place()
    const summary = idOf(seed, number)
    yield {
      kind: 'boundary',
      ...base,
      summary: [summary],
      kept: { head: kept[0] ?? '', tail: kept.at(-1) ?? '', anchor: summary },
      keeps: 'tail',
      attachments: [],
      logicalParent: base.parent,
      meta: { trigger: 'auto', preTokens: Math.round(sinceBoundary / 4), postTokens: 9000, path: 'fork' },
    }
    yield message('engine', { role: 'user', content: words(random, 12_000) }, { part: 'summary' })
    yield { kind: 'title', ...place(), title: 'A generated session', firstPrompt: 'Go.' }
    sinceBoundary = 0
  }
}

/** Looks like a UUID and counts up. */
function idOf(seed: number, number: number): EntryId {
  const hex = (value: number, digits: number): string =>
    value.toString(16).padStart(digits, '0').slice(-digits)
  return `${hex(seed, 8)}-0000-4000-8000-${hex(number, 12)}`
}

const WORDS =
  'the file src/engine/view.ts error E1042 returns naïve 0x7f3a "quoted" line\n of tokens → cache'.split(' ')

function words(random: () => number, chars: number): string {
  let text = ''
  while (text.length < chars) text += `${WORDS[Math.floor(random() * WORDS.length)]} `
  return text
}

/** A small generator of numbers in [0, 1), the same on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
