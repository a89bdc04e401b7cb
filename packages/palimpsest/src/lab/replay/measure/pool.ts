import { createRandom } from './random.ts'

// From sessions to one figure: the mean with equal weights, an interval from drawing projects again with replacement, all sessions of a
// project at once (neither steps nor sessions: those of one session, and of one project, are not independent), and the worst tenth.

export interface Pooled {
  readonly mean: number
  /** 95% of the means of drawn sets of projects lie between these. */
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

/** With fewer projects, drawing them says nothing of other projects: then sessions are drawn. */
export const PROJECTS_MIN = 6

/** A figure of one session. */
export interface SessionValue {
  readonly value: number | null
  readonly project: string
}

/** Undefined where no session has the figure. */
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

/** In order of size. A report draws some thousand times for each of its figures: hence arrays of numbers, sorted once. */
function drawnMeans(groups: readonly Group[]): Float64Array {
  const sums = Float64Array.from(groups, ({ sum }) => sum)
  const counts = Float64Array.from(groups, ({ count }) => count)
  // One is all that can be drawn.
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

/** With a straight line between neighbours. */
function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}
