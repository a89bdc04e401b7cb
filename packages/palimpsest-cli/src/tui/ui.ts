import type { StyledLine } from './text/styled-line.ts'
import type { PickItem } from './input/pick-item.ts'
import type { PageSource } from './pager/page-source.ts'

// What a conversation needs from its user. There are two implementations: the screen, and plain lines for screen readers and for terminals
// that cannot move their cursor.

export type UserAct =
  | { readonly kind: 'said'; readonly text: string }
  /** Esc Esc. */
  | { readonly kind: 'rewind' }
  | { readonly kind: 'quit' }

export interface Question {
  readonly title: string
  /** What it is about: a diff, a command. A function is called again whenever the screen is drawn. */
  readonly proposal?: readonly StyledLine[] | (() => readonly StyledLine[])
  readonly items: readonly PickItem[]
  readonly isSearched?: boolean
}

export interface LiveParts {
  /** The end of the answer that is being written. Called for each frame, because more arrives than anyone could see. */
  readonly streaming: () => readonly StyledLine[]
  /** Empty: nothing is running. */
  readonly activity: string
  /** Start time of the activity. Absent: the time when `activity` changed. */
  readonly since?: number | undefined
  /** The end of what a running command printed. */
  readonly printing: () => readonly StyledLine[]
  readonly status: StyledLine
  /** Agents at work, below the input. */
  readonly agents: () => readonly StyledLine[]
}

export interface Pages {
  readonly transcript: () => Promise<PageSource | string>
  readonly removed: () => Promise<PageSource | string>
}

/** How to see what is not on the screen: by a key, or by a command if keys mean nothing. */
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
  /** Shows lines that stay. */
  readonly show: (lines: readonly StyledLine[]) => void
  /** Shows what the user said, above its answer. */
  readonly showSaid: (text: string) => void
  /** Changes what is going on now. */
  readonly setLive: (parts: Partial<LiveParts>) => void
  /** During a compaction: characters of the summary so far. */
  readonly setWritten: (chars: number) => void
  /** What the user does next; what was typed meanwhile comes first. */
  readonly next: () => Promise<UserAct>
  /** What an interruption does while something runs. Undefined: nothing runs. */
  readonly setInterrupt: (interrupt: (() => void) | undefined) => void
  /** Undefined: the user chose nothing. */
  readonly pick: (question: Question, signal?: AbortSignal) => Promise<string | undefined>
  /** Asks for a line in the user's own words. */
  readonly ask: (title: string, signal?: AbortSignal) => Promise<string | undefined>
  /** Shows a long text until a key closes it. */
  readonly page: (source: PageSource) => Promise<void>
  /**
   * What the keys for long texts show, at any time: everything that was said, and what was removed last. A sentence if there is nothing.
   */
  readonly setPages: (pages: Pages) => void
  /** What Shift-Tab does; `change` returns a text about the result. */
  readonly setModeKey: (change: () => string) => void
  /** What Ctrl-B does; `move` returns a text about the result. Undefined: nothing to move, and the key moves the cursor. */
  readonly setBackgroundKey: (move: () => string | undefined) => void
  /** What `@` offers, looked up when first needed. */
  readonly setFiles: (list: () => Promise<readonly string[]>) => void
  /** Earlier inputs, oldest first. */
  readonly setHistory: (said: readonly string[]) => void
  /** Inputs of earlier sessions, oldest first; they come before the ones already there. */
  readonly addHistory: (earlier: readonly string[]) => void
  /** Puts words into the input, for the user to change. */
  readonly setInput: (text: string) => void
  readonly close: () => void
}
