// When the window counts as full, so that automatic compaction acts. Every decision about that asks here; `window.ts` and `thresholds.ts`
// say how large a window is and where its thresholds are.

/** The one threshold that counts here. */
interface FullMark {
  readonly auto: number
}

/** Whether a conversation of this size fills its window. */
export function isFull(sizeTokens: number, thresholds: FullMark): boolean {
  return sizeTokens >= fullAt(thresholds)
}

/** Size at which a conversation fills its window: shown to the user, recorded with a compaction, and shared out by those who make room. */
export function fullAt({ auto }: FullMark): number {
  return auto
}

/** Tokens that messages may take before it is full, with this many tokens before them. */
export function roomUntilFull(thresholds: FullMark, prefixTokens: number): number {
  return Math.max(0, fullAt(thresholds) - prefixTokens)
}
