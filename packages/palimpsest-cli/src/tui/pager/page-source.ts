import type { StyledLine } from '../text/styled-line.ts'

/** A long text in pieces, each laid out when it is wanted. */
export interface PageSource {
  readonly title: string
  /** How many pieces there are. */
  readonly count: number
  readonly lines: (piece: number, columns: number) => Promise<readonly StyledLine[]>
  /** False: the piece cannot hold these words, which are in small letters. Spares laying it out. */
  readonly mayHold: (piece: number, words: string) => Promise<boolean>
  /** The end is what one wants to see first. */
  readonly opensAtEnd: boolean
  /** What is shown at once is only the end: the same with all that stands before it, when it is there. */
  readonly whole?: Promise<PageSource>
  readonly close: () => Promise<void>
}

/** Lines that are there already. */
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
