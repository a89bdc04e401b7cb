import type { Entry, EntryId } from '../../../transcript/entry.ts'
import type { Usage } from '../../../wire/usage.ts'

// A session that some agent recorded, as our data. Every reader returns this one value, whatever the input: `problems` has what could
// not be read, and `account` counts what happened to every record of the file.

export const RECORDED_FORMATS = ['claude-code', 'codex', 'pi', 'opencode'] as const
export type RecordedFormat = (typeof RECORDED_FORMATS)[number]

export interface RecordedSession {
  /** `unknown`: no format matched; there are no entries, and a problem says why. */
  readonly format: RecordedFormat | 'unknown'
  /** Empty if the file has none. */
  readonly sessionId: string
  /** In order of first use. */
  readonly models: readonly string[]
  /** The system prompt, if the format records it. */
  readonly system?: string
  /** The main chain in order: messages, boundaries with summaries, `other` entries for clearings. The parent of each is the one before. */
  readonly entries: readonly Entry[]
  /** Rewound, abandoned and forked parts: subtrees with a parent on the main chain. */
  readonly branches: readonly RecordedBranch[]
  /** Conversations of sub-agents in the same file. */
  readonly sidechains: readonly RecordedBranch[]
  /** One per model response, wherever it is, in file order. */
  readonly responses: readonly RecordedResponse[]
  /** Tool uses of the main chain without a result: the recorded run was interrupted there. */
  readonly unanswered: readonly UnansweredToolUse[]
  /** Clearings of old tool results by the recorded agent. Its replacement texts are not recorded, so they are data, not edits. */
  readonly clearings: readonly RecordedClearing[]
  readonly account: RecordAccount
  /** The first `PROBLEMS_MAX`; `account.reported` counts all records with a problem. */
  readonly problems: readonly ReadProblem[]
}

export interface RecordedBranch {
  /** The main-chain entry that is its parent; null at the very beginning and for sidechains. */
  readonly from: EntryId | null
  /** A subtree in file order; parents are as recorded, skipping lines that are not entries. */
  readonly entries: readonly Entry[]
}

export interface RecordedResponse {
  readonly id: string
  readonly requestId?: string
  readonly model: string
  readonly place: 'main' | 'branch' | 'sidechain'
  /** The newest time recorded before its first line: the request started then. NaN if nothing before it has a time. */
  readonly requestedAt: number
  /** Times of its first and last line. */
  readonly at: number
  readonly endedAt: number
  /** As in the Messages API: input excludes cache reads and writes. Counted once, however many lines repeat it. */
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
  /** Line number, counted from 1. In the one-document format the message's number. 0: the file as a whole. */
  readonly line: number
  readonly what: string
}

/** Counts each record once: total = blank + used + repeated + ignored + reported. A record is a line; in one document a message or part. */
export interface RecordAccount {
  readonly total: number
  readonly blank: number
  readonly used: number
  /** Records that repeat what another one said, by kind. */
  readonly repeated: { readonly [kind: string]: number }
  /** Records without anything that the model saw, by kind. */
  readonly ignored: { readonly [kind: string]: number }
  readonly reported: number
}

/** A file of another kind gives one problem per line; nobody reads more than this many. */
export const PROBLEMS_MAX = 200
