// How much a compaction leaves, and of what. Learned from recorded sessions; the figures are in docs/decisions/0046.

/** Shares are of the room: what the window holds up to the automatic threshold, minus prefix and the user's messages. */
export interface CompactionPolicy {
  /**
   * Share of all that stays, without the user's messages. More costs twice: it is written to the cache again, and the window fills sooner.
   */
  readonly keptShare: number
  /** Work needs this many tokens, however small the window, but at most this share. */
  readonly keptTokensMin: number
  readonly keptShareMax: number
  /** What work needs does not grow with the window, so the share of a large one ends here. */
  readonly keptTokensMax: number
  /** The newest part, which stays whatever it is, in tokens; at most this share of what stays. */
  readonly tailTokens: number
  readonly tailShare: number
  /** Share of excerpts in what stays next to the summary, and their most tokens. */
  readonly excerptShare: number
  readonly excerptTokensMax: number
  /** Share, in what stays next to the summary, of rounds with a command that failed and has not succeeded since. */
  readonly evidenceShare: number
  readonly summaryShare: number
  /** What must not be forgotten needs this many tokens, but at most this share. */
  readonly summaryTokensMin: number
  readonly summaryShareMax: number
  /**
   * Most that the user's messages may take: a share of what the window holds after the prefix, or these tokens if that is more.
   * They come before everything else; the room that is left is for the work. What does not fit is in the summary.
   */
  readonly userShare: number
  readonly userTokensMin: number
  /** Share of excerpts in a room up to this size: in a small room, whole rounds are worth more. */
  readonly smallExcerptShare: number
  readonly smallRoomTokens: number
  /** From this size on, excerpts have their full share; between the two sizes it grows. */
  readonly largeRoomTokens: number
}

export const COMPACTION_POLICY: CompactionPolicy = {
  keptShare: 0.33,
  keptTokensMin: 14_000,
  keptShareMax: 0.58,
  keptTokensMax: 40_000,
  tailTokens: 10_000,
  tailShare: 0.5,
  excerptShare: 0.25,
  excerptTokensMax: 8_000,
  evidenceShare: 0.2,
  summaryShare: 0.025,
  summaryTokensMin: 600,
  summaryShareMax: 0.2,
  userShare: 0.4,
  userTokensMin: 500,
  smallExcerptShare: 0.1,
  smallRoomTokens: 24_000,
  largeRoomTokens: 45_000,
}

/** How much a compaction leaves: as little as the work needs, or more, which costs more. */
export type KeepStyle = 'lean' | 'rich'

/** The user's settings for compactions. */
export interface CompactionWishes {
  /** Another model for summaries. Its cache has nothing of ours, so no fork asks it. */
  readonly model?: string | undefined
  /** How much stays. Absent: lean. */
  readonly keep?: KeepStyle | undefined
}

/** What differs if more is to be left. */
const RICH = {
  keptShare: 0.6,
  keptTokensMax: Infinity,
  excerptTokensMax: 16_000,
} as const satisfies Partial<CompactionPolicy>

/** Only the tail scales, as the specification says; the other sizes are what work needs, whatever the window. */
export function compactionPolicy(scale: number, style: KeepStyle = 'lean'): CompactionPolicy {
  const lean = { ...COMPACTION_POLICY, tailTokens: Math.round(COMPACTION_POLICY.tailTokens * scale) }
  return style === 'rich' ? { ...lean, ...RICH } : lean
}

/** What stays in a room of this size, without the user's messages. */
export function keptTokens(policy: CompactionPolicy, roomTokens: number): number {
  return Math.max(
    Math.min(policy.keptShare * roomTokens, policy.keptTokensMax),
    Math.min(policy.keptTokensMin, policy.keptShareMax * roomTokens),
  )
}

/** Share of excerpts in what stays next to the summary, in a room of this size. */
export function excerptShareIn(policy: CompactionPolicy, roomTokens: number): number {
  const { smallRoomTokens, largeRoomTokens, smallExcerptShare, excerptShare } = policy
  const largeness = (roomTokens - smallRoomTokens) / (largeRoomTokens - smallRoomTokens)
  return smallExcerptShare + (excerptShare - smallExcerptShare) * Math.min(1, Math.max(0, largeness))
}

/** Estimated size of a conversation after a compaction: what comes before its messages, and what stays of them. */
export function leftTokens(policy: CompactionPolicy, autoTokens: number, prefixTokens: number): number {
  return prefixTokens + keptTokens(policy, Math.max(0, autoTokens - prefixTokens))
}
