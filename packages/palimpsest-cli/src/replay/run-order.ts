import { ABLATIONS, STRATEGIES, type Strategy } from 'palimpsest/replay'

import { UNMANAGED } from './compared.ts'

// Strategies run in a different order than they are reported: while waiting, the user sees palimpsest and the other tools before the plain
// ones.

/** Strategies with the given names, in the order of the report. */
export function strategiesNamed(names: readonly string[]): readonly Strategy[] {
  return [...STRATEGIES, ...ABLATIONS].filter(({ name }) => names.includes(name))
}

/**
 * The report goes from the plainest to palimpsest. Here the one that all are compared with comes first, and ablations come last, because
 * they mean little before palimpsest.
 */
export function mostTellingFirst(strategies: readonly Strategy[]): readonly Strategy[] {
  const main = new Set(STRATEGIES.map(({ name }) => name))
  const rank = ({ name }: Strategy): number => (name === UNMANAGED ? 0 : main.has(name) ? 1 : 2)
  const reversed = strategies.toReversed()
  return [
    ...strategies.filter((one) => rank(one) === 0),
    ...reversed.filter((one) => rank(one) === 1),
    ...strategies.filter((one) => rank(one) === 2),
  ]
}

interface Ordered {
  readonly strategy: string
  readonly window: number
  /** A control comes after the strategy whose token count it was given. */
  readonly at?: string
}

/** Window by window, in the order of the strategies; rows without one come last. */
export function inReportOrder<Of extends Ordered>(
  rows: readonly Of[],
  strategies: readonly Strategy[],
  windows: readonly number[],
): readonly Of[] {
  const place = ({ strategy, at }: Ordered): number => {
    const index = strategies.findIndex(({ name }) => name === (at ?? strategy))
    return index < 0 ? strategies.length : index
  }
  return rows.toSorted((a, b) => windows.indexOf(a.window) - windows.indexOf(b.window) || place(a) - place(b))
}
