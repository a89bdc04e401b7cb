// How much a compaction leaves, and of what. Learned from recorded sessions; the figures are in docs/decisions/0043.

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
  /** Of it, text that is made: the summary, where no model writes it, and quoted lines; at most so many tokens. */
  readonly madeShare: number
  readonly madeTokensMax: number
  readonly summaryShare: number
  /** What must not be forgotten has to stand somewhere, in tokens; up to a greater share. */
  readonly summaryTokensMin: number
  readonly summaryShareMax: number
  /** The user's messages, newest first, that stay as they were, of what the window holds behind the prefix. Older ones are in the summary. */
  readonly userShare: number
}

export const COMPACTION_POLICY: CompactionPolicy = {
  keptShare: 0.42,
  keptTokensMin: 8_000,
  keptShareMax: 0.65,
  keptTokensMax: 32_000,
  tailTokens: 10_000,
  tailShare: 0.5,
  madeShare: 0.08,
  madeTokensMax: 4_000,
  summaryShare: 0.025,
  summaryTokensMin: 600,
  summaryShareMax: 0.2,
  userShare: 0.2,
}

/** How much a compaction leaves: as little as the work is served by, or more, which costs more. */
export type KeepStyle = 'lean' | 'rich'

/** What is different where more is to be left. */
const RICH = {
  keptShare: 0.6,
  keptTokensMax: Infinity,
  madeShare: 0.11,
  madeTokensMax: 16_000,
} as const satisfies Partial<CompactionPolicy>

/** What is left of a small window, how much of it in lines, and the scales between which it becomes that. */
const SMALL_KEPT_SHARE = 0.58
const SMALL_MADE_SHARE = 0.12
const SMALL_SCALE = 0.3
const LARGE_SCALE = 0.5

/** The tail is a size of the specification; the other sizes say what work needs, whatever the window. A small window keeps more of itself, and more of it as lines. */
export function compactionPolicy(scale: number, style: KeepStyle = 'lean'): CompactionPolicy {
  if (style === 'rich') {
    const lean = compactionPolicy(scale)
    const keptShare = Math.max(lean.keptShare, RICH.keptShare)
    return { ...lean, ...RICH, keptShare, madeShare: Math.max(lean.madeShare, RICH.madeShare) }
  }
  const { keptShare, madeShare, tailTokens } = COMPACTION_POLICY
  const smallness = Math.min(1, Math.max(0, (LARGE_SCALE - scale) / (LARGE_SCALE - SMALL_SCALE)))
  return {
    ...COMPACTION_POLICY,
    keptShare: keptShare + (SMALL_KEPT_SHARE - keptShare) * smallness,
    madeShare: madeShare + (SMALL_MADE_SHARE - madeShare) * smallness,
    tailTokens: Math.round(tailTokens * scale),
  }
}

/** What a conversation holds after a compaction, about: what stands before its messages, and what stays of them. */
export function leftTokens(
  { keptShare, keptTokensMax, keptTokensMin, keptShareMax }: CompactionPolicy,
  autoTokens: number,
  prefixTokens: number,
): number {
  const room = Math.max(0, autoTokens - prefixTokens)
  const kept = Math.max(
    Math.min(keptShare * room, keptTokensMax),
    Math.min(keptTokensMin, keptShareMax * room),
  )
  return prefixTokens + kept
}
