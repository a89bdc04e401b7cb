import type { EntryId } from '../transcript/entry.ts'

// What a conversation says about itself, without asking a model. It is updated with every entry and carried across boundaries, so that
// notes, proofs and folds cost nothing and forget nothing.

/** A message that the user typed. */
export interface UserWords {
  readonly entry: EntryId
  /** The complete text, or the beginning of a long one. */
  readonly text: string
  /** For a long message: its end, and its total number of characters. */
  readonly cut?: { readonly tail: string; readonly chars: number }
}

/** An instruction or prohibition from the user that holds until it is revoked. */
export interface StandingWords {
  readonly entry: EntryId
  /** The sentence, word for word. */
  readonly text: string
}

export const FILE_OPERATIONS = ['read', 'created', 'written', 'edited', 'deleted', 'moved'] as const
export type FileOperation = (typeof FILE_OPERATIONS)[number]

export interface FileFact {
  readonly path: string
  /** The last operation that changed the file; `read` if none did. */
  readonly operation: FileOperation
  /** A counter that grows with every touch: the file touched last has the highest value. */
  readonly touched: number
  /** When it was last read, on the same counter. */
  readonly read?: number
  /** The answer whose call changed it last. */
  readonly entry?: EntryId
}

/** The beginning of what an edit put into a file. */
export interface CodeFact {
  readonly path: string
  readonly text: string
}

export interface CommandFact {
  readonly command: string
  /** Undefined if the result does not show it. */
  readonly exit?: number
  readonly failed: boolean
}

/** A failed call. */
export interface ErrorFact {
  readonly entry: EntryId
  readonly tool: string
  /** File or command. */
  readonly target: string
  /** The line of the result that shows what went wrong. */
  readonly text: string
}

export interface TodoFact {
  readonly text: string
  readonly state: 'open' | 'running' | 'done'
  /** Only if the tool gives its items ids. */
  readonly id?: string
}

/** A shell or agent that was started and has not been seen to end. */
export interface BackgroundFact {
  readonly id: string
  readonly text: string
}

/** What the model said at the end of a turn; the last one belongs to the current turn. */
export interface AnswerFact {
  readonly entry: EntryId
  readonly text: string
}

/** Lists are oldest first. */
export interface Facts {
  readonly words: readonly UserWords[]
  readonly standing: readonly StandingWords[]
  readonly files: readonly FileFact[]
  /** From the newest edits. */
  readonly code: readonly CodeFact[]
  readonly commands: readonly CommandFact[]
  /** Failures that no successful similar call has followed. */
  readonly errors: readonly ErrorFact[]
  /** The newest of the failures that were fixed. */
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
