import type { ResolvedModel } from '../tokens/models.ts'

// How much fits, in three steps: what the model accepts, what is sensible to use of it, and what is left of that with room reserved to
// write a summary.

/** For an unknown model. */
const WINDOW_DEFAULT = 200_000
/** A request of 900,000 tokens is possible and rarely sensible. */
export const WORKING_WINDOW_DEFAULT = 200_000
/** Thresholds stay this far below the first price step, so that one response does not cross it. */
const TIER_MARGIN = 0.05
/** The 99.99th percentile of summaries is 17,387 tokens. */
const SUMMARY_ROOM = 20_000
/** Sizes in this project are meant for a working window of this many tokens; below it they shrink in proportion. */
const FULL_SIZE_WINDOW = 200_000

export interface WindowSettings {
  /** The user asked for the extended window: `[1m]` after the model's name, or the beta header. */
  readonly extended?: boolean | undefined
  /** `PALIMPSEST_CONTEXT_TOKENS`: used only for a model that the table does not have. */
  readonly contextTokens?: number | undefined
  /** `PALIMPSEST_WINDOW`: never more than this. */
  readonly windowMax?: number | undefined
  readonly workingWindow?: number | 'full' | undefined
}

export interface Window {
  /** What the model accepts. The overflow guard uses it. */
  readonly window: number
  /** What thresholds are computed from. */
  readonly working: number
  readonly effective: number
  /** Every size of the specification is multiplied by it: 1 for a working window of 200,000 tokens or more. */
  readonly scale: number
}

export function computeWindow(model: ResolvedModel, settings: WindowSettings = {}): Window {
  const window = least([acceptedBy(model, settings), model.learnedLimit, settings.windowMax])
  const working = least([window, tierBound(model), workingBound(settings)])
  const scale = Math.min(working / FULL_SIZE_WINDOW, 1)
  const effective = working - Math.min(model.facts.maxOutput, scaled(SUMMARY_ROOM, scale))
  return { window, working, effective, scale }
}

/** A size of the specification, in a window of this scale. */
export function scaled(size: number, scale: number): number {
  return Math.round(size * scale)
}

function acceptedBy(
  { facts, known, isReported = false }: ResolvedModel,
  { extended, contextTokens }: WindowSettings,
): number {
  if ((!known || isReported) && contextTokens !== undefined) return contextTokens
  const plain = known ? Math.min(facts.contextWindow, facts.maxInput ?? Infinity) : WINDOW_DEFAULT
  return extended ? Math.max(plain, facts.capabilities.extendedWindow ?? 0) : plain
}

function tierBound({ facts }: ResolvedModel): number | undefined {
  const border = facts.prices[0]?.upToTokens
  return border === undefined ? undefined : Math.floor(border * (1 - TIER_MARGIN))
}

function workingBound({ workingWindow }: WindowSettings): number | undefined {
  return workingWindow === 'full' ? undefined : (workingWindow ?? WORKING_WINDOW_DEFAULT)
}

function least(bounds: readonly (number | undefined)[]): number {
  return Math.min(...bounds.filter((bound) => bound !== undefined))
}
