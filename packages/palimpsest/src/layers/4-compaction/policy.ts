// How much a compaction leaves, and of what. Learned from recorded sessions; the figures are in docs/decisions/0046.

/** Shares are of the room: what the window holds up to the automatic threshold, less prefix and the user's messages. */
export interface CompactionPolicy {
  /** All that is left, the user's messages aside. More is dearer twice: it is written anew, and the window fills sooner. */
  readonly keptShare: number
  /** Work needs so much, however small the window, in tokens; up to a greater share. */
  readonly keptTokensMin: number
  readonly keptShareMax: number
  /** What work needs does not grow with the window: a share of a large one stops here. */
  readonly keptTokensMax: number
  /** The newest of it, which stays whatever it is, in tokens; at most a share of what stays. */
  readonly tailTokens: number
  readonly tailShare: number
  /** Of what stays beside the summary, excerpts of what leaves; at most so many tokens. */
  readonly excerptShare: number
  readonly excerptTokensMax: number
  /** Of what stays beside the summary, rounds in which a command failed that has not run well since. */
  readonly evidenceShare: number
  readonly summaryShare: number
  /** What must not be forgotten has to stand somewhere, in tokens; up to a greater share. */
  readonly summaryTokensMin: number
  readonly summaryShareMax: number
  /**
   * The user's messages that stay as they were, at most, of what the window holds behind the prefix; and so many tokens however small that
   * is. They come before all else: what is left of the room is for the work. What does not fit is in the summary.
   */
  readonly userShare: number
  readonly userTokensMin: number
  /** The share of excerpts in a small room, up to these tokens: there, whole rounds earn more. */
  readonly smallExcerptShare: number
  readonly smallRoomTokens: number
  /** From these tokens on excerpts have their full share; between the two it grows. */
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

/** How much a compaction leaves: as little as the work is served by, or more, which costs more. */
export type KeepStyle = 'lean' | 'rich'

/** What the user wishes of compactions; handed on whole to whoever carries one out. */
export interface CompactionWishes {
  /** Another model for summaries: it has nothing of ours in its cache, so it is never asked by a fork. */
  readonly model?: string | undefined
  /** How much stays. Left out: lean. */
  readonly keep?: KeepStyle | undefined
}

/** What is different where more is to be left. */
const RICH = {
  keptShare: 0.6,
  keptTokensMax: Infinity,
  excerptTokensMax: 16_000,
} as const satisfies Partial<CompactionPolicy>

/** The tail is a size of the specification; the other sizes say what work needs, whatever the window. */
export function compactionPolicy(scale: number, style: KeepStyle = 'lean'): CompactionPolicy {
  const lean = { ...COMPACTION_POLICY, tailTokens: Math.round(COMPACTION_POLICY.tailTokens * scale) }
  return style === 'rich' ? { ...lean, ...RICH } : lean
}

/** What stays in a room of this size, the user's messages aside. */
export function keptTokens(policy: CompactionPolicy, roomTokens: number): number {
  return Math.max(
    Math.min(policy.keptShare * roomTokens, policy.keptTokensMax),
    Math.min(policy.keptTokensMin, policy.keptShareMax * roomTokens),
  )
}

/** Of what stays beside the summary in a room of this size, the share of excerpts. */
export function excerptShareIn(policy: CompactionPolicy, roomTokens: number): number {
  const { smallRoomTokens, largeRoomTokens, smallExcerptShare, excerptShare } = policy
  const largeness = (roomTokens - smallRoomTokens) / (largeRoomTokens - smallRoomTokens)
  return smallExcerptShare + (excerptShare - smallExcerptShare) * Math.min(1, Math.max(0, largeness))
}

/** What a conversation holds after a compaction, about: what stands before its messages, and what stays of them. */
export function leftTokens(policy: CompactionPolicy, autoTokens: number, prefixTokens: number): number {
  return prefixTokens + keptTokens(policy, Math.max(0, autoTokens - prefixTokens))
}
