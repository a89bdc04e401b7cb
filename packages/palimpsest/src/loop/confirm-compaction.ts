import type { ConfirmCompaction } from '../engine/auto-compact.ts'

/** In a full-size window: after this many more tokens it asks again. */
const ASK_AGAIN_TOKENS = 10_000

/**
 * Asks before a compaction that the user did not ask for. If declined, the compaction waits for the blocking limit, and the question comes
 * again when the conversation has grown; at the limit it no longer asks. Use one per conversation: it remembers the answer.
 */
export function createConfirm(ask: ConfirmCompaction, scale: number): ConfirmCompaction {
  let declinedAt: number | undefined
  return async (size, signal) => {
    const { sizeTokens, blockingTokens } = size
    if (sizeTokens >= blockingTokens) return true
    // A conversation that shrank was compacted or undone, so the earlier answer no longer counts.
    const again = declinedAt === undefined || sizeTokens < declinedAt
    if (!again && sizeTokens < (declinedAt ?? 0) + ASK_AGAIN_TOKENS * scale) return false
    const confirmed = await ask(size, signal)
    declinedAt = confirmed ? undefined : sizeTokens
    return confirmed
  }
}
