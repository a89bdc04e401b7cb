import { createRandom } from './random.ts'

// From sessions to one figure: the mean with equal weights, a 95% interval, and the worst tenth. The interval resamples projects with
// replacement, each with all its sessions: steps of one session, and sessions of one project, are not independent.

export interface Pooled {
  readonly mean: number
  /** 95% of the means of the resampled sets lie between `low` and `high`. */
  readonly low: number
  readonly high: number
  /** A tenth of the sessions are below this. */
  readonly p10: number
}

const DRAWS = 2_000
const SEED = 1_337
const LOW_SHARE = 0.025
const HIGH_SHARE = 0.975
const WORST_SHARE = 0.1

/** With fewer projects, resampling them says nothing about other projects, so we resample sessions. */
export const PROJECTS_MIN = 6

/** One session's value of a figure; null if the session does not have it. */
export interface SessionValue {
  readonly value: number | null
  readonly project: string
}

/** Undefined if no session has the figure. */
export function poolValues(sessions: readonly SessionValue[]): Pooled | undefined {
  const found = sessions.flatMap(({ value, project }) => (value === null ? [] : [{ value, project }]))
  const known = found.map(({ value }) => value)
  if (known.length === 0) return undefined
  const means = drawnMeans(drawnTogether(found))
  return {
    mean: known.reduce((sum, value) => sum + value, 0) / known.length,
    low: quantile(means, LOW_SHARE),
    high: quantile(means, HIGH_SHARE),
    p10: quantile(Float64Array.from(known).toSorted(), WORST_SHARE),
  }
}

/** Sorted ascending. A report draws thousands of times for each figure, so this uses number arrays and sorts once. */
function drawnMeans(groups: readonly Group[]): Float64Array {
  const sums = Float64Array.from(groups, ({ sum }) => sum)
  const counts = Float64Array.from(groups, ({ count }) => count)
  // A single group always draws itself.
  if (groups.length === 1) return sums.map((sum, i) => sum / (counts[i] ?? 0))
  const random = createRandom(SEED)
  const means = new Float64Array(DRAWS)
  for (let draw = 0; draw < DRAWS; draw++) {
    let sum = 0
    let count = 0
    for (let i = 0; i < sums.length; i++) {
      const at = Math.floor(random() * sums.length)
      sum += sums[at] ?? 0
      count += counts[at] ?? 0
    }
    means[draw] = sum / count
  }
  return means.toSorted()
}

interface Group {
  readonly sum: number
  readonly count: number
}

function drawnTogether(found: readonly { readonly value: number; readonly project: string }[]): Group[] {
  const projects = Map.groupBy(found, ({ project }) => project)
  if (projects.size < PROJECTS_MIN) return found.map(({ value }) => ({ sum: value, count: 1 }))
  return [...projects.values()].map((of) => ({
    sum: of.reduce((sum, { value }) => sum + value, 0),
    count: of.length,
  }))
}

/** Interpolates linearly between neighbors. */
function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}
