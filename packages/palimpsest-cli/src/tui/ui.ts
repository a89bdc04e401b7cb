import type { StyledLine } from './text/styled-line.ts'
import type { PickItem } from './input/pick-item.ts'
import type { PageSource } from './pager/page-source.ts'

// What a conversation needs of whoever sits in front of it. Two make it: the screen, and plain lines for terminals that cannot move
// their cursor and for screen readers.

export type UserAct =
  | { readonly kind: 'said'; readonly text: string }
  /** Esc Esc. */
  | { readonly kind: 'rewind' }
  | { readonly kind: 'quit' }

export interface Question {
  readonly title: string
  /** What it is about: a diff, a command. */
  /** A function is asked again whenever the screen is drawn. */
  readonly proposal?: readonly StyledLine[] | (() => readonly StyledLine[])
  readonly items: readonly PickItem[]
  readonly isSearched?: boolean
}

export interface LiveParts {
  /** The end of the answer that is being written. Asked for when it is drawn: more of it comes than anybody could see. */
  readonly streaming: () => readonly StyledLine[]
  /** Empty: nothing is going on. */
  readonly activity: string
  /** Since when. Not told: since the activity changed. */
  readonly since?: number | undefined
  /** The end of what a running command printed. */
  readonly printing: () => readonly StyledLine[]
  readonly status: StyledLine
  /** Agents that work, below the input. */
  readonly agents: () => readonly StyledLine[]
}

export interface Pages {
  readonly transcript: () => Promise<PageSource | string>
  readonly removed: () => Promise<PageSource | string>
}

/** How to see what is not on the screen: by a key, or by a command where keys mean nothing. */
export interface Ways {
  readonly toRemoved: string
  readonly toAll: string
  /** What can be typed besides commands, for the list of them. */
  readonly keys: readonly (readonly [key: string, what: string])[]
}

export interface Ui {
  readonly ways: Ways
  readonly columns: () => number
  readonly rows: () => number
  /** Lines that stay. */
  readonly show: (lines: readonly StyledLine[]) => void
  /** What the user said, above its answer. */
  readonly showSaid: (text: string) => void
  /** What is going on now. */
  readonly setLive: (parts: Partial<LiveParts>) => void
  /** While a compaction is what is going on: characters of the summary so far. */
  readonly setWritten: (chars: number) => void
  /** What the user does next; what was typed meanwhile comes first. */
  readonly next: () => Promise<UserAct>
  /** While something runs: what an interruption does. Undefined: nothing runs. */
  readonly setInterrupt: (interrupt: (() => void) | undefined) => void
  /** Undefined: the user chose nothing. */
  readonly pick: (question: Question, signal?: AbortSignal) => Promise<string | undefined>
  /** A line of the user's own words. */
  readonly ask: (title: string, signal?: AbortSignal) => Promise<string | undefined>
  /** Shows a long text until a key leaves it. */
  readonly page: (source: PageSource) => Promise<void>
  /** What the keys for it show, at any time: everything that was said, what was taken out last. A sentence where there is nothing. */
  readonly setPages: (pages: Pages) => void
  /** What Shift-Tab does: it says what became of it. */
  readonly setModeKey: (change: () => string) => void
  /** What Ctrl-B does: it says what became of it. Undefined: nothing, and the key moves the cursor. */
  readonly setBackgroundKey: (move: () => string | undefined) => void
  /** What `@` offers, looked up when first wanted. */
  readonly setFiles: (list: () => Promise<readonly string[]>) => void
  /** What was said before, oldest first. */
  readonly setHistory: (said: readonly string[]) => void
  /** What was said in sessions before, oldest first: it comes before that. */
  readonly addHistory: (earlier: readonly string[]) => void
  /** Puts words into the input, for the user to change. */
  readonly setInput: (text: string) => void
  readonly close: () => void
}
