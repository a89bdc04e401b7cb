import type { TokenizerFamily } from '../wire/model-facts.ts'

// Raw estimates are right up to a factor that depends on the model: its vocabulary, and what its provider writes around the content. The
// factor is the weighted median of the observations, so that a single request with unlogged content does not move it.

/** One observation: reported tokens per estimated token, and how much text it is based on. */
export interface CalibrationSample {
  readonly ratio: number
  readonly weight: number
}

export interface Calibration {
  /** The initial factor, which also bounds later ones. */
  readonly start: number
  /** Oldest first. */
  readonly samples: readonly CalibrationSample[]
}

/**
 * By vocabulary, from recorded sessions if there are any (`docs/tokens.md`). The newer Claude vocabulary follows what is published, at most
 * a third more tokens; Gemini follows the closest one.
 */
const START_FACTORS: { readonly [family in TokenizerFamily]: number } = {
  'claude-4': 1,
  'claude-4-7': 1.3,
  o200k: 0.82,
  gemini: 0.9,
}

/** Enough to forget slowly, few enough to follow a conversation that moves to another kind of text. */
const SAMPLES_MAX = 64
/** The initial factor counts as one observation of this many tokens, so that it yields after a few requests. */
const START_WEIGHT = 3_000
/** A smaller piece says more about frames and hidden reminders than about text. */
const SAMPLE_TOKENS_MIN = 100
/** One huge result is still only one kind of text. */
const SAMPLE_WEIGHT_MAX = 4_000
/** No vocabulary deviates further from its family's; beyond that, something else was counted. */
const DRIFT_MAX = 2

export function startCalibration(family: TokenizerFamily): Calibration {
  return { start: START_FACTORS[family], samples: [] }
}

/** The factor for estimates. */
export function factorOf({ start, samples }: Calibration): number {
  const median = weightedMedian([{ ratio: start, weight: START_WEIGHT }, ...samples])
  return Math.min(Math.max(median, start / DRIFT_MAX), start * DRIFT_MAX)
}

/** Estimated tokens that must have been observed before the observations count by themselves. */
const LEARNED_WEIGHT_MIN = 1_000

/** The factor from observations alone, without the initial one; undefined if there are too few. */
export function learnedFactor({ samples }: Calibration): number | undefined {
  const weight = samples.reduce((sum, sample) => sum + sample.weight, 0)
  return weight < LEARNED_WEIGHT_MIN ? undefined : weightedMedian(samples)
}

/**
 * The calibration after another request: `actualTokens` is how much the reported prompt grew, `rawTokens` the estimate of what made it
 * grow. Only growth teaches: a prompt shrinks by a decision, and small growth is mostly frame.
 */
export function observe(
  calibration: Calibration,
  { actualTokens, rawTokens }: { readonly actualTokens: number; readonly rawTokens: number },
): Calibration {
  if (!(rawTokens >= SAMPLE_TOKENS_MIN) || !(actualTokens > 0)) return calibration
  const sample = { ratio: actualTokens / rawTokens, weight: Math.min(rawTokens, SAMPLE_WEIGHT_MAX) }
  if (!Number.isFinite(sample.ratio)) return calibration
  return { ...calibration, samples: [...calibration.samples, sample].slice(-SAMPLES_MAX) }
}

function weightedMedian(samples: readonly CalibrationSample[]): number {
  const sorted = samples.toSorted((a, b) => a.ratio - b.ratio)
  const half = sorted.reduce((sum, sample) => sum + sample.weight, 0) / 2
  let passed = 0
  for (const { ratio, weight } of sorted) {
    passed += weight
    if (passed >= half) return ratio
  }
  return sorted.at(-1)?.ratio ?? 1
}
