import type { TokenizerFamily } from '../wire/model-facts.ts'

// Raw estimates are right up to a factor that belongs to the model: its vocabulary, and what its provider writes around the content.
// The factor is the weighted median of what was seen, so that a request with content nobody logged does not move it.

/** One observation: reported tokens per estimated token, and how much text it stands on. */
export interface CalibrationSample {
  readonly ratio: number
  readonly weight: number
}

export interface Calibration {
  /** Where it starts, and what it is bounded around. */
  readonly start: number
  /** The newest last. */
  readonly samples: readonly CalibrationSample[]
}

/**
 * By vocabulary, from recorded sessions where there are any (`docs/tokens.md`); the newer Claude one by what is published, a third
 * more tokens at most; Gemini by the nearest.
 */
const START_FACTORS: { readonly [family in TokenizerFamily]: number } = {
  'claude-4': 1,
  'claude-4-7': 1.3,
  o200k: 0.82,
  gemini: 0.9,
}

/** Enough to forget slowly, few enough to follow a conversation that turns to another kind of text. */
const SAMPLES_MAX = 64
/** The start counts as one observation of this many tokens: it gives way after a few requests. */
const START_WEIGHT = 3_000
/** A smaller piece says more about frames and hidden reminders than about text. */
const SAMPLE_TOKENS_MIN = 100
/** One huge result is still one kind of text. */
const SAMPLE_WEIGHT_MAX = 4_000
/** No vocabulary is further from its family's; beyond it something else was counted. */
const DRIFT_MAX = 2

export function startCalibration(family: TokenizerFamily): Calibration {
  return { start: START_FACTORS[family], samples: [] }
}

/** What an estimate must be multiplied by. */
export function factorOf({ start, samples }: Calibration): number {
  const median = weightedMedian([{ ratio: start, weight: START_WEIGHT }, ...samples])
  return Math.min(Math.max(median, start / DRIFT_MAX), start * DRIFT_MAX)
}

/** Estimated tokens that answers must have been seen of, before they say something by themselves. */
const LEARNED_WEIGHT_MIN = 1_000

/** What was seen alone, without where it started; undefined where that is too little. */
export function learnedFactor({ samples }: Calibration): number | undefined {
  const weight = samples.reduce((sum, sample) => sum + sample.weight, 0)
  return weight < LEARNED_WEIGHT_MIN ? undefined : weightedMedian(samples)
}

/**
 * The calibration after one more request: `actualTokens` is how much the reported prompt grew, `rawTokens` the estimate of what made
 * it grow. Only growth teaches: what shrinks a prompt is a decision, and what is small is mostly frame.
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
