import { createRandom } from './random.ts'

// From sessions to one figure: the mean with equal weights, an interval from drawing sessions again with replacement (sessions, not
// steps: the steps of one session are not independent), and the worst tenth.

export interface Pooled {
  readonly mean: number
  /** 95% of the means of drawn sets of sessions lie between these. */
  readonly low: number
  readonly high: number
  /** A tenth of the sessions is below this. */
  readonly p10: number
}

const DRAWS = 2_000
const SEED = 1_337
const LOW_SHARE = 0.025
const HIGH_SHARE = 0.975
const WORST_SHARE = 0.1

/** Undefined where no session has the figure. */
export function poolValues(values: readonly (number | null)[]): Pooled | undefined {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return undefined
  const random = createRandom(SEED)
  const means = Array.from({ length: DRAWS }, () => {
    let sum = 0
    for (let i = 0; i < known.length; i++) sum += known[Math.floor(random() * known.length)] ?? 0
    return sum / known.length
  })
  return {
    mean: known.reduce((sum, value) => sum + value, 0) / known.length,
    low: quantile(means, LOW_SHARE),
    high: quantile(means, HIGH_SHARE),
    p10: quantile(known, WORST_SHARE),
  }
}

/** With a straight line between neighbours. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}
