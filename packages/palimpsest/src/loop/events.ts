import type { CacheBreak } from '../accounts/cache-watch.ts'
import type { CompactionPath } from '../layers/4-compaction/compaction-setup.ts'
import type { MessageEntry, Entry } from '../transcript/entry.ts'
import type { JsonObject } from '../wire/json.ts'
import type { ProviderFailure, SpendingLimit } from '../errors.ts'

// What a turn tells its caller. `message` and `tool-end` come after their entry is on disk, so what they report is never lost. Deltas are
// provisional: an answer that breaks off is asked for again. If that does not help, or the turn is aborted, the part that arrived is kept
// and comes as a message.

/** `keepsAnswer`: the last answer was broken off, and the part that arrived belongs to the conversation. */
export type TurnEnd = TurnReason & { readonly keepsAnswer?: true }

type TurnReason =
  | { readonly reason: 'answered' }
  | { readonly reason: 'max-rounds' }
  /** Nothing more was sent. `neededUsd`: about what the next request costs. */
  | {
      readonly reason: 'max-cost'
      readonly neededUsd?: number
      readonly leftUsd?: number
      readonly limit?: SpendingLimit | undefined
    }
  | { readonly reason: 'aborted' }
  | { readonly reason: 'refused'; readonly explanation: string }
  | { readonly reason: 'window-full'; readonly message: string }
  | { readonly reason: 'failed'; readonly failure: ProviderFailure; readonly message: string }

export type LoopEvent =
  | { readonly type: 'request-start'; readonly attempt: number; readonly estimatedTokens: number }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'thinking-delta'; readonly text: string }
  | { readonly type: 'tool-input-delta'; readonly toolUseId: string; readonly partialJson: string }
  /** The answer so far is void; it is asked for again. */
  | { readonly type: 'answer-discarded'; readonly reason: string }
  | {
      readonly type: 'retry-wait'
      readonly waitMs: number
      readonly attempt: number
      readonly reason: string
    }
  | { readonly type: 'message'; readonly entry: MessageEntry }
  | {
      readonly type: 'tool-start'
      readonly toolUseId: string
      readonly name: string
      readonly input: JsonObject
    }
  | {
      readonly type: 'tool-end'
      readonly toolUseId: string
      readonly name: string
      readonly entry: MessageEntry
      /** Why the call was not permitted. */
      readonly denied?: string | undefined
    }
  /** Entries of the engine: storage, edits, boundaries. */
  | { readonly type: 'engine'; readonly entries: readonly Entry[] }
  /** A request read less from the cache than the cache must have held. */
  | { readonly type: 'cache-break'; readonly break: CacheBreak }
  | { readonly type: 'notice'; readonly text: string }
  /** A message from another agent joined the conversation. Its text follows as a message. */
  | { readonly type: 'letter'; readonly from: string; readonly summary: string }
  /** The conversation is being compacted until `compaction-end`; `keep-alive` comes while a model works on it. */
  | { readonly type: 'compaction-start'; readonly cause: string }
  /** A compaction tries this path. If it comes to nothing, the event of the next path follows. */
  | { readonly type: 'compaction-path'; readonly path: CompactionPath }
  | { readonly type: 'compaction-end' }
  | { readonly type: 'keep-alive' }
  | { readonly type: 'turn-end'; readonly end: TurnEnd }
