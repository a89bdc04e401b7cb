import type { StyledLine } from '../text/styled-line.ts'

/** A long text in pieces, each laid out on demand. */
export interface PageSource {
  readonly title: string
  /** Number of pieces. */
  readonly count: number
  readonly lines: (piece: number, columns: number) => Promise<readonly StyledLine[]>
  /** False: the piece cannot hold these lowercase words, so it need not be laid out. */
  readonly mayHold: (piece: number, words: string) => Promise<boolean>
  /** The reader wants to see the end first. */
  readonly opensAtEnd: boolean
  /** Set if this is only the end: the same text with everything before it, once available. */
  readonly whole?: Promise<PageSource>
  readonly close: () => Promise<void>
}

/** Lines that are available already. */
export function linesSource(title: string, pieces: readonly (readonly StyledLine[])[]): PageSource {
  return {
    title,
    count: pieces.length,
    lines: async (piece) => pieces[piece] ?? [],
    mayHold: async () => true,
    opensAtEnd: false,
    close: async () => undefined,
  }
}
