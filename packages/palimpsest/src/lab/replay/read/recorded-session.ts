import type { Entry, EntryId } from '../../../transcript/entry.ts'
import type { Usage } from '../../../wire/usage.ts'

// A session that some agent recorded, as data of ours. Every reader returns this one value, whatever the input: what could not be
// read is in `problems`, and `account` says of every record of the file what became of it.

export const RECORDED_FORMATS = ['claude-code', 'codex', 'pi', 'opencode'] as const
export type RecordedFormat = (typeof RECORDED_FORMATS)[number]

export interface RecordedSession {
  /** `unknown`: no format was recognised; there are no entries, and a problem says why. */
  readonly format: RecordedFormat | 'unknown'
  /** Empty where the file names none. */
  readonly sessionId: string
  /** In order of first use. */
  readonly models: readonly string[]
  /** The system prompt, where the format records it. */
  readonly system?: string
  /** The main chain in order: messages, boundaries with their summaries, and `other` entries for recorded clearings. The parent of each is the one before it. */
  readonly entries: readonly Entry[]
  /** Rewound, abandoned and forked parts: subtrees that hang off the main chain. */
  readonly branches: readonly RecordedBranch[]
  /** Conversations of sub-agents that stand in the same file. */
  readonly sidechains: readonly RecordedBranch[]
  /** One per model response, wherever it stands, in file order. */
  readonly responses: readonly RecordedResponse[]
  /** Tool uses of the main chain that no result answers: the recorded run was interrupted there. */
  readonly unanswered: readonly UnansweredToolUse[]
  /** Clearings of old tool results by the recorded agent. Its replacement texts are not recorded, so they are data, not edits. */
  readonly clearings: readonly RecordedClearing[]
  readonly account: RecordAccount
  /** The first `PROBLEMS_MAX`; `account.reported` counts all records with one. */
  readonly problems: readonly ReadProblem[]
}

export interface RecordedBranch {
  /** The main-chain entry it hangs off; null at the very beginning and for sidechains. */
  readonly from: EntryId | null
  /** A subtree in file order; parents are as recorded, past lines that are not entries. */
  readonly entries: readonly Entry[]
}

export interface RecordedResponse {
  readonly id: string
  readonly requestId?: string
  readonly model: string
  readonly place: 'main' | 'branch' | 'sidechain'
  /** The newest time recorded before its first line: the request started then. NaN where nothing before it has a time. */
  readonly requestedAt: number
  /** Times of its first and last line. */
  readonly at: number
  readonly endedAt: number
  /** In the meaning of the Messages API: input excludes what was read from or written to the cache. Counted once however many lines repeat it. */
  readonly usage?: Usage
  readonly entries: readonly EntryId[]
}

export interface UnansweredToolUse {
  readonly entry: EntryId
  readonly toolUseId: string
  readonly name: string
}

export interface RecordedClearing {
  readonly at: number
  readonly toolUseIds: readonly string[]
  readonly preTokens?: number
  readonly freedTokens?: number
}

export interface ReadProblem {
  /** Counted from 1. For the one-document format: the number of the message. 0: the file as a whole. */
  readonly line: number
  readonly what: string
}

/** Every record is counted exactly once: total = blank + used + repeated + ignored + reported. A record is a line; in the one-document format a message or a part. */
export interface RecordAccount {
  readonly total: number
  readonly blank: number
  readonly used: number
  /** Records that say again what another one said, by kind. */
  readonly repeated: { readonly [kind: string]: number }
  /** Records that carry nothing the model saw, by kind. */
  readonly ignored: { readonly [kind: string]: number }
  readonly reported: number
}

/** A file of another kind gives one problem per line; nobody reads more than these. */
export const PROBLEMS_MAX = 200
