// When the window counts as full, so that what compacts by itself acts. Whoever decides by it asks here; how large a window is, and where its
// thresholds are, `window.ts` and `thresholds.ts` say.

/** Of the thresholds, the one that counts here. */
interface FullMark {
  readonly auto: number
}

/** Whether a conversation of this size fills its window. */
export function isFull(sizeTokens: number, thresholds: FullMark): boolean {
  return sizeTokens >= fullAt(thresholds)
}

/** Tokens at which it is full: what is told to the user, recorded with a compaction, and shared out by those who make room. */
export function fullAt({ auto }: FullMark): number {
  return auto
}

/** Tokens that messages may come to before it is full, where so many stand before them. */
export function roomUntilFull(thresholds: FullMark, prefixTokens: number): number {
  return Math.max(0, fullAt(thresholds) - prefixTokens)
}
