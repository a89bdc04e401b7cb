import { factorOf, startCalibration, type Calibration } from '../tokens/calibrate.ts'
import type { Entry, EntryId, MessageEntry } from '../transcript/entry.ts'
import { settle, type Settled } from '../transcript/settle.ts'
import { emptyView, step } from '../transcript/view.ts'
import { findModelFacts, unknownClaudeFacts } from '../wire/model-facts.ts'
import { clearedTokens, promptTokens, type Usage } from '../wire/usage.ts'
import { breakpointPlaces, type BreakpointPlace } from '../request/breakpoint-places.ts'
import type { CacheLifetimes } from '../request/build-request.ts'
import { boughtLifetime } from '../request/choose-lifetime.ts'
import { createCacheWatch, type CacheReading, type CacheWatch } from './cache-watch.ts'
import { learnNewest } from '../situation/calibration.ts'
import { modelPolicy } from '../situation/model-policy.ts'

// The cache's history, from the transcript alone: its requests are laid out again, one by one, as they were sent. A request begins when the
// last entry before its answer was written.

export interface CacheEvent extends CacheReading {
  /** The answer. */
  readonly entry: EntryId
  readonly at: number
}

export interface CacheHistory {
  readonly events: readonly CacheEvent[]
  /** Has seen the whole history, and continues from there. */
  readonly watch: CacheWatch
}

/**
 * What was bought for the messages is taken from usage, or from `lifetimes` if usage does not show it; for the system, always from
 * `lifetimes`.
 */
export function cacheHistory(
  entries: Iterable<Entry>,
  lifetimes: CacheLifetimes,
  from: EntryId | null = null,
): CacheHistory {
  const watch = createCacheWatch()
  const events: CacheEvent[] = []
  let view = emptyView(from)
  let before: Entry | undefined
  let response: string | undefined
  let calibration: Calibration | undefined
  let changedUnseen = false
  let { messages } = lifetimes
  for (const entry of entries) {
    const usage = isAnswer(entry) && entry.responseId !== response ? entry.usage : undefined
    // What came before the boundary where loading began is unknown: answers that it kept say nothing about their requests.
    const isKnown = from === null || view.boundary !== undefined
    if (isKnown && isAnswer(entry) && usage && promptTokens(usage) > 0) {
      response = entry.responseId
      const model = view.prefix?.model ?? entry.model ?? ''
      const facts = findModelFacts(model) ?? unknownClaudeFacts(model)
      const thinking = modelPolicy(model, facts)
      const settled = settle(view, thinking)
      calibration = learnNewest(view, thinking, calibration ?? startCalibration(facts.tokenizer))
      const factor = factorOf(calibration)
      messages = boughtLifetime(usage) ?? messages
      const bought = view.prefix
        ? { places: breakpointPlaces(view, settled), lifetimes: { ...lifetimes, messages } }
        : foreign(settled, usage)
      const at = before?.at ?? entry.at
      watch.quote({ view, settled, facts, at, toTokens: (raw) => raw * factor, changedUnseen, ...bought })
      events.push({
        ...watch.answered({ usage, sentAt: at, at: entry.at, clearedTokens: clearedIn(entry) }),
        entry: entry.id,
        at: entry.at,
      })
      changedUnseen = false
    }
    // A line of another agent that has no meaning for us may be about a clearing.
    changedUnseen ||= entry.kind === 'other'
    view = step(view, entry)
    before = entry
  }
  return { events, watch }
}

function clearedIn({ message }: MessageEntry): number {
  return 'context_management' in message ? clearedTokens(message.context_management) : 0
}

function isAnswer(entry: Entry): entry is MessageEntry {
  return entry.kind === 'message' && entry.message.role === 'assistant' && entry.sidechain !== true
}

/** Another agent caches up to its last block; nothing else of its breakpoints is known. */
function foreign(
  { blocks }: Settled,
  usage: Usage,
): { readonly places: readonly BreakpointPlace[]; readonly lifetimes: CacheLifetimes } {
  const ttl = usage.cache_creation?.ephemeral_1h_input_tokens ? '1h' : '5m'
  const node = blocks.findLastIndex((sent) => sent.length > 0)
  const place = { node, block: (blocks[node]?.length ?? 0) - 1, slot: 'end' } as const
  return { places: node < 0 ? [] : [place], lifetimes: { system: ttl, messages: ttl } }
}
