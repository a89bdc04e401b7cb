import type { MostExpensiveStep, PairedRow, ReplayReport, SessionReport, Trace } from 'palimpsest/replay'
import { findMostExpensive, pairStrategies, toReport } from 'palimpsest/replay'

import { OWN } from './compared.ts'

// Everything that people see of a replay, on a terminal or a page: the report, palimpsest against the others, the course of one session,
// and the most expensive steps.

export interface ReplayDocument {
  readonly report: ReplayReport
  /** Per window, `OWN` against each other. */
  readonly paired: readonly PairedWindow[]
  /** The longest session. Absent if none was replayed. */
  readonly charted?: ChartedSession
  /** Per window and strategy, over all sessions. */
  readonly mostExpensive: readonly MostExpensiveOfAll[]
}

export interface PairedWindow {
  readonly window: number
  readonly rows: readonly PairedRow[]
}

export interface ChartedSession {
  readonly session: string
  readonly steps: number
  readonly traces: readonly Trace[]
}

export interface MostExpensiveOfAll extends MostExpensiveStep {
  readonly session: string
}

export interface Gathering {
  /** Sessions may come in any order; the result does not depend on it. */
  readonly add: (index: number, report: SessionReport, traces: readonly Trace[]) => void
  readonly end: (windows: readonly number[], skipped: ReplayReport['skipped']) => ReplayDocument
}

/** Collects sessions as they finish, and keeps only the traces that will be shown. */
export function createGathering(): Gathering {
  const reports = new Map<number, SessionReport>()
  const mostExpensive = new Map<string, MostExpensiveOfAll & { readonly index: number }>()
  let charted: (ChartedSession & { readonly index: number }) | undefined
  return {
    add(index, report, traces) {
      reports.set(index, report)
      const { session, steps } = report
      if (!charted || steps > charted.steps || (steps === charted.steps && index < charted.index))
        charted = { session, steps, traces, index }
      for (const trace of traces) {
        const found = findMostExpensive(trace)
        if (!found) continue
        const key = `${trace.window} ${trace.strategy}`
        const known = mostExpensive.get(key)
        if (!known || costsMore({ ...found, index }, known))
          mostExpensive.set(key, { ...found, session, index })
      }
    },
    end(windows, skipped) {
      const inOrder = [...reports].toSorted(([a], [b]) => a - b).map(([, report]) => report)
      const report = toReport(inOrder, windows, skipped)
      return {
        report,
        paired: windows.map((window) => ({ window, rows: pairStrategies(inOrder, window, OWN) })),
        ...(charted && { charted }),
        mostExpensive: windows.flatMap((window) =>
          inReportOrder(report, window, [...mostExpensive.values()]),
        ),
      }
    },
  }
}

interface Found {
  readonly dollars: number
  readonly index: number
}

function costsMore(a: Found, b: Found): boolean {
  return a.dollars > b.dollars || (a.dollars === b.dollars && a.index < b.index)
}

function inReportOrder(
  report: ReplayReport,
  window: number,
  found: readonly MostExpensiveOfAll[],
): readonly MostExpensiveOfAll[] {
  const pooled = report.windows.find((one) => one.window === window)
  return (pooled?.strategies ?? [])
    .filter((row) => row.at === undefined)
    .flatMap((row) => found.filter((one) => one.window === window && one.strategy === row.strategy))
}
