import type { CacheBreak } from '../accounts/cache-watch.ts'
import type { CompactionPath } from '../layers/4-compaction/compaction-setup.ts'
import type { MessageEntry, Entry } from '../transcript/entry.ts'
import type { JsonObject } from '../wire/json.ts'
import type { ProviderFailure, SpendingLimit } from '../errors.ts'

// What a turn tells its caller. `message` and `tool-end` come after their entry is on disk: what they tell is never lost. Deltas are
// provisional: an answer that broke off on its way is asked for again. Where that was of no use, or the turn was called off, what had
// come of the answer is kept, and told as a message.

/** `keepsAnswer`: the last answer was broken off, and what had come of it is part of the conversation. */
export type TurnEnd = TurnReason & { readonly keepsAnswer?: true }

type TurnReason =
  | { readonly reason: 'answered' }
  | { readonly reason: 'max-rounds' }
  /** Nothing more was sent: the next request costs about so much. */
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
  /** The answer so far is void: it is asked for again. */
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
  /** Less was read from the cache than must have been in it. */
  | { readonly type: 'cache-break'; readonly break: CacheBreak }
  | { readonly type: 'notice'; readonly text: string }
  /** A message of another agent joined the conversation. Its text follows as a message. */
  | { readonly type: 'letter'; readonly from: string; readonly summary: string }
  /** Between the two the conversation is being compacted; `keep-alive` comes while a model is at it. */
  | { readonly type: 'compaction-start'; readonly cause: string }
  /** Told as it begins; where it comes to nothing, the next one is. */
  | { readonly type: 'compaction-path'; readonly path: CompactionPath }
  | { readonly type: 'compaction-end' }
  | { readonly type: 'keep-alive' }
  | { readonly type: 'turn-end'; readonly end: TurnEnd }
