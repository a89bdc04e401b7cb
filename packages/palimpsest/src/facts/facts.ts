import type { EntryId } from '../transcript/entry.ts'

// What a conversation says of itself, without asking a model: kept up to date with every entry and carried over boundaries, so that
// notes, proofs and folds cost nothing and forget nothing.

/** Something the user typed. */
export interface UserWords {
  readonly entry: EntryId
  /** Whole, or the head of a long one. */
  readonly text: string
  /** Of a long one: its end, and how many characters it had in all. */
  readonly cut?: { readonly tail: string; readonly chars: number }
}

/** An instruction or prohibition of the user that holds until it is revoked. */
export interface StandingWords {
  readonly entry: EntryId
  /** The sentence, word for word. */
  readonly text: string
}

export const FILE_OPERATIONS = ['read', 'created', 'written', 'edited', 'deleted', 'moved'] as const
export type FileOperation = (typeof FILE_OPERATIONS)[number]

export interface FileFact {
  readonly path: string
  /** The last one that changed it; `read` where none did. */
  readonly operation: FileOperation
  /** Grows with every touch: what was touched last has the greatest. */
  readonly touched: number
  /** Of the last read, in the same count. */
  readonly read?: number
  /** The answer whose call changed it last. */
  readonly entry?: EntryId
}

/** What an edit put into a file: its beginning. */
export interface CodeFact {
  readonly path: string
  readonly text: string
}

export interface CommandFact {
  readonly command: string
  /** Undefined where the result does not tell. */
  readonly exit?: number
  readonly failed: boolean
}

/** A failed call. */
export interface ErrorFact {
  readonly entry: EntryId
  readonly tool: string
  /** File or command. */
  readonly target: string
  /** The line of the result that tells what went wrong. */
  readonly text: string
}

export interface TodoFact {
  readonly text: string
  readonly state: 'open' | 'running' | 'done'
  /** Where the tool gives items ids of their own. */
  readonly id?: string
}

/** A shell or an agent that was started and has not been seen to end. */
export interface BackgroundFact {
  readonly id: string
  readonly text: string
}

/** What the model said at the end of a turn; the last one is of the turn that goes on. */
export interface AnswerFact {
  readonly entry: EntryId
  readonly text: string
}

/** Lists are oldest first. */
export interface Facts {
  readonly words: readonly UserWords[]
  readonly standing: readonly StandingWords[]
  readonly files: readonly FileFact[]
  /** Of the newest edits. */
  readonly code: readonly CodeFact[]
  readonly commands: readonly CommandFact[]
  /** Those that no like call has followed with success. */
  readonly errors: readonly ErrorFact[]
  /** The newest of the others. */
  readonly mended: readonly ErrorFact[]
  readonly todos: readonly TodoFact[]
  readonly background: readonly BackgroundFact[]
  readonly answers: readonly AnswerFact[]
}

export const NO_FACTS: Facts = {
  words: [],
  standing: [],
  files: [],
  code: [],
  commands: [],
  errors: [],
  mended: [],
  todos: [],
  background: [],
  answers: [],
}
