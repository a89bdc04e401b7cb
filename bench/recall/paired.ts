// Two ways of ranking, the same questions: how much better the one is, with a 95 % interval by drawing questions again.

export interface Paired {
  readonly ours: number
  readonly base: number
  readonly gain: number
  readonly low: number
  readonly high: number
}

const DRAWS = 2_000

export function pair(ours: readonly number[], base: readonly number[]): Paired {
  const random = seeded(17)
  const differences = ours.map((value, i) => value - (base[i] ?? 0))
  const draws = Array.from({ length: DRAWS }, () => {
    let sum = 0
    for (let i = 0; i < differences.length; i++)
      sum += differences[Math.floor(random() * differences.length)] ?? 0
    return sum / differences.length
  }).toSorted((a, b) => a - b)
  return {
    ours: mean(ours),
    base: mean(base),
    gain: mean(differences),
    low: draws[Math.floor(DRAWS * 0.025)] ?? Number.NaN,
    high: draws[Math.floor(DRAWS * 0.975)] ?? Number.NaN,
  }
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

/** The same draws in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
