import type { StyledLine } from './text/styled-line.ts'
import type { PickItem } from './input/pick-item.ts'

// What a conversation needs of whoever sits in front of it. Two make it: the screen, and plain lines for terminals that cannot move
// their cursor and for screen readers.

export type UserAct =
  | { readonly kind: 'said'; readonly text: string }
  /** Esc Esc. */
  | { readonly kind: 'rewind' }
  /** The key that shows everything that was said. */
  | { readonly kind: 'transcript' }
  | { readonly kind: 'quit' }

export interface Question {
  readonly title: string
  /** What it is about: a diff, a command. */
  readonly proposal?: readonly StyledLine[]
  readonly items: readonly PickItem[]
  readonly isSearched?: boolean
}

export interface LiveParts {
  readonly streaming: readonly StyledLine[]
  /** Empty: nothing is going on. */
  readonly activity: string
  readonly status: StyledLine
}

export interface Ui {
  readonly columns: () => number
  /** Lines that stay. */
  readonly show: (lines: readonly StyledLine[]) => void
  /** What is going on now. */
  readonly setLive: (parts: Partial<LiveParts>) => void
  /** What the user does next; what was typed meanwhile comes first. */
  readonly next: () => Promise<UserAct>
  /** While something runs: what an interruption does. Undefined: nothing runs. */
  readonly setInterrupt: (interrupt: (() => void) | undefined) => void
  /** Undefined: the user chose nothing. */
  readonly pick: (question: Question, signal?: AbortSignal) => Promise<string | undefined>
  /** A line of the user's own words. */
  readonly ask: (title: string, signal?: AbortSignal) => Promise<string | undefined>
  /** Shows a long text in a program made for it. */
  readonly page: (text: string) => Promise<void>
  /** What `@` offers, looked up when first wanted. */
  readonly setFiles: (list: () => Promise<readonly string[]>) => void
  /** What was said before, oldest first. */
  readonly setHistory: (said: readonly string[]) => void
  /** Puts words into the input, for the user to change. */
  readonly setInput: (text: string) => void
  readonly close: () => void
}
