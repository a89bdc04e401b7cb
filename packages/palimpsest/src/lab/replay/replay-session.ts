import type { EntryId, MessageEntry, PrefixEntry } from '../../transcript/entry.ts'
import type { Hash } from '../../wire/hash.ts'
import { isBlock, toBlocks } from '../../wire/message.ts'
import { promptTokens, type Usage } from '../../wire/usage.ts'
import type { RecordedResponse, RecordedSession } from './read/recorded-session.ts'
import { unroll } from './read/unroll.ts'

// A recorded session prepared for a replay: one history without the recorded agent's compactions, and the moments at which it asked the
// model. The history of a step depends on nothing after it.

export interface ReplayStep {
  readonly responseId: string
  readonly model: string
  /** Index of the response's first line. The history of the step is every entry before it. */
  readonly from: number
  /** The newest time recorded before it, when the request started. */
  readonly requestedAt: number
  readonly beganAt: number
  readonly usage?: Usage
  /** The recorded agent compacted, cleared or restored something since the step before, so their prompts cannot be compared. */
  readonly afterGap: boolean
  /** Lifetime that the recorded request bought for its prefix. */
  readonly ttl: '5m' | '1h'
  /** What came before the messages, if the recording has it; ours do. */
  readonly prefix?: PrefixEntry
  /** Hash of the history that the recorded answer was made from, if the recording has it. */
  readonly under?: Hash
}

export interface ReplaySession {
  readonly name: string
  /** What it worked on. Default: nothing that any other session worked on. */
  readonly project?: string
  readonly format: string
  readonly entries: readonly MessageEntry[]
  readonly steps: readonly ReplayStep[]
}

/** Replaces the missing result of a call that the recording never answered. */
export const INTERRUPTED_TEXT = '[Interrupted before a result arrived]'

/** Lifetime if no usage shows one. */
const DEFAULT_TTL = '5m'

/** If `model` is given, the session counts as recorded with that model. */
export function toReplaySession(recorded: RecordedSession, name: string, model?: string): ReplaySession {
  const { entries } = unroll(recorded)
  const kept = new Map(entries.map((entry) => [entry.id, entry]))
  const responses = new Map(recorded.responses.map((response) => [response.id, response]))
  const history: MessageEntry[] = []
  const steps: ReplayStep[] = []
  const open = new Map<string, EntryId>()
  const seen = new Set<string>()
  let gap = false
  let prefix: PrefixEntry | undefined
  for (const found of recorded.entries) {
    const entry = kept.get(found.id)
    if (found.kind === 'prefix') {
      prefix = found
      continue
    }
    if (!entry) {
      gap = true
      continue
    }
    if (entry.message.role === 'assistant' && startsStep(entry, seen)) {
      answerOpen(history, open)
      // A response before the first message answers no request that could be sent.
      if (history.length > 0)
        steps.push(
          toStep(entry, responses.get(responseOf(entry)), {
            from: history.length,
            gap,
            model,
            prefix,
            last: steps.at(-1),
          }),
        )
      gap = false
    }
    const own = model !== undefined && entry.message.role === 'assistant' ? { model } : {}
    history.push({ ...entry, ...own, parent: history.at(-1)?.id ?? null })
    noteCalls(entry, open)
  }
  return { name, format: recorded.format, entries: history, steps }
}

/** The reported size of a step's prompt; undefined if the recording has none. */
export function reportedPrompt(step: ReplayStep): number | undefined {
  const tokens = step.usage ? promptTokens(step.usage) : 0
  return tokens > 0 ? tokens : undefined
}

/** The response that an answer's line belongs to. */
export function responseOf(entry: MessageEntry): string {
  return entry.responseId ?? entry.id
}

function startsStep(entry: MessageEntry, seen: Set<string>): boolean {
  const id = responseOf(entry)
  if (seen.has(id)) return false
  seen.add(id)
  return true
}

function toStep(
  entry: MessageEntry,
  response: RecordedResponse | undefined,
  { from, gap, model, prefix, last }: StepPlace,
): ReplayStep {
  const requestedAt = laterOf(response?.requestedAt, last?.beganAt ?? 0)
  return {
    responseId: responseOf(entry),
    model: model ?? (response?.model || entry.model || last?.model || ''),
    from,
    requestedAt,
    beganAt: laterOf(response?.at, requestedAt),
    ...(response?.usage && { usage: response.usage }),
    afterGap: gap,
    ttl: boughtTtl(response?.usage) ?? last?.ttl ?? DEFAULT_TTL,
    ...(prefix && model === undefined && { prefix }),
    ...(entry.under !== undefined && { under: entry.under }),
  }
}

interface StepPlace {
  readonly from: number
  readonly gap: boolean
  readonly model: string | undefined
  readonly prefix: PrefixEntry | undefined
  readonly last: ReplayStep | undefined
}

/** Times never run backwards; a missing time is the one before it. */
function laterOf(time: number | undefined, earliest: number): number {
  return time !== undefined && time > earliest ? time : earliest
}

function boughtTtl(usage: Usage | undefined): '5m' | '1h' | undefined {
  const created = usage?.cache_creation
  if (!created) return undefined
  if (created.ephemeral_1h_input_tokens > 0) return '1h'
  return created.ephemeral_5m_input_tokens > 0 ? '5m' : undefined
}

function noteCalls(entry: MessageEntry, open: Map<string, EntryId>): void {
  for (const block of toBlocks(entry.message.content)) {
    if (isBlock(block, 'tool_use')) open.set(block.id, entry.id)
    if (isBlock(block, 'tool_result')) open.delete(block.tool_use_id)
  }
}

/** A request must answer every call. What the recording left open gets a result before the next response. */
function answerOpen(history: MessageEntry[], open: Map<string, EntryId>): void {
  for (const id of open.keys()) {
    const last = history.at(-1)
    const message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: INTERRUPTED_TEXT, is_error: true }],
    } as const
    history.push({
      kind: 'message',
      id: `interrupted-${id}`,
      parent: last?.id ?? null,
      at: last?.at ?? Number.NaN,
      origin: 'engine',
      part: 'interrupted',
      message,
      json: JSON.stringify(message),
    })
  }
  open.clear()
}
