/** How many generated cases a property test runs: a few in CI, many in `npm run soak`. */
export function cases(ci: number, soak: number): { numRuns: number } {
  return { numRuns: process.env['SOAK'] ? soak : ci }
}
