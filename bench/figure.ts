/** One line of a benchmark. Bounds are on ratios within one run; times are shown, not judged: machines are noisy. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly atMost?: number
}

export function print(title: string, figures: readonly Figure[]): boolean {
  console.log(`\n${title}`)
  for (const { name, value, unit, atMost } of figures) {
    const verdict =
      atMost === undefined ? '' : value <= atMost ? `  (at most ${atMost}: yes)` : `  (at most ${atMost}: NO)`
    console.log(`  ${name.padEnd(60)} ${value.toPrecision(4).padStart(10)} ${unit}${verdict}`)
  }
  return figures.every(({ value, atMost }) => atMost === undefined || value <= atMost)
}
