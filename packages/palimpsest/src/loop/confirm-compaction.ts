import type { ConfirmCompaction } from '../engine/auto-compact.ts'

/** In a full-size window: so much later it is asked again. */
const ASK_AGAIN_TOKENS = 10_000

/**
 * Asks before a compaction that nobody asked for. Declined, it waits for the blocking limit, and asks again when the conversation has
 * grown; at the limit there is nothing left to ask. One for a conversation: it remembers what was said.
 */
export function createConfirm(ask: ConfirmCompaction, scale: number): ConfirmCompaction {
  let declinedAt: number | undefined
  return async (size, signal) => {
    const { sizeTokens, blockingTokens } = size
    if (sizeTokens >= blockingTokens) return true
    // A conversation that became smaller was compacted, or undone: what was said of it is past.
    const again = declinedAt === undefined || sizeTokens < declinedAt
    if (!again && sizeTokens < (declinedAt ?? 0) + ASK_AGAIN_TOKENS * scale) return false
    const confirmed = await ask(size, signal)
    declinedAt = confirmed ? undefined : sizeTokens
    return confirmed
  }
}
