// The best of any number of hits, in bounded space: higher score first, then newer; each quote of an entry once.

export interface RecallHit {
  /** Id of the entry; for a stored result, its path below the project's folder. */
  readonly id: string
  readonly session: string
  /** Milliseconds since 1970; NaN if unknown. */
  readonly at: number
  readonly kind: string
  readonly quote: string
  readonly before: string
  readonly after: string
  readonly score: number
}

export interface BestHits {
  readonly add: (hit: RecallHit) => void
  readonly list: () => readonly RecallHit[]
}

/** Sorting at every hit would cost more than the search. */
const SLACK = 4

export function createBestHits(max: number): BestHits {
  let hits = new Map<string, RecallHit>()
  const shrink = (to: number): void => {
    const best = [...hits].toSorted(([, a], [, b]) => order(a, b)).slice(0, to)
    hits = new Map(best)
  }
  return {
    add: (hit) => {
      // A fork repeats the lines of its source.
      const key = `${hit.id}\n${hit.quote}`
      const known = hits.get(key)
      if (known && order(known, hit) <= 0) return
      hits.set(key, hit)
      if (hits.size > max * SLACK) shrink(max)
    },
    list: () => {
      shrink(max)
      return [...hits.values()]
    },
  }
}

function order(a: RecallHit, b: RecallHit): number {
  return b.score - a.score || ageOf(a) - ageOf(b)
}

function ageOf({ at }: RecallHit): number {
  return Number.isNaN(at) ? Number.MAX_VALUE : -at
}
