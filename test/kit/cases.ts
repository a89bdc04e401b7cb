/** A red run of CI is about the change that it ran for, so its cases are the same every time. New ones are met in `npm run soak`. */
const CI_SEED = 20_261_118

export interface Cases {
  readonly numRuns: number
  /** Absent: other cases each time. */
  readonly seed?: number
}

/** How many generated cases a property test runs: a few in CI, many in `npm run soak`. `SEED=n` names others, `SEED=random` any. */
export function cases(ci: number, soak: number): Cases {
  const { SOAK, SEED } = process.env
  if (SEED === 'random' || (SOAK && !SEED)) return { numRuns: SOAK ? soak : ci }
  return { numRuns: SOAK ? soak : ci, seed: SEED ? Number(SEED) : CI_SEED }
}
