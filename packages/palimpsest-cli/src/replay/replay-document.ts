import type { DearestStep, PairedRow, ReplayReport, SessionReport, Trace } from 'palimpsest/replay'
import { findDearest, pairStrategies, toReport } from 'palimpsest/replay'

import { OWN } from './compared.ts'

// All that a person is shown of a replay, on a terminal and on a page: the report, what palimpsest is against the others, how one
// session went, and what the dearest steps were.

export interface ReplayDocument {
  readonly report: ReplayReport
  /** Per window, `OWN` against each other. */
  readonly paired: readonly PairedWindow[]
  /** The longest session. Left out where none was replayed. */
  readonly charted?: ChartedSession
  /** Per window and strategy, over all sessions. */
  readonly dearest: readonly DearestOfAll[]
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

export interface DearestOfAll extends DearestStep {
  readonly session: string
}

export interface Gathering {
  /** In any order: which session is shown depends on none. */
  readonly add: (index: number, report: SessionReport, traces: readonly Trace[]) => void
  readonly end: (windows: readonly number[], skipped: ReplayReport['skipped']) => ReplayDocument
}

/** Takes in sessions as they are done, and keeps of their traces what will be shown. */
export function createGathering(): Gathering {
  const reports = new Map<number, SessionReport>()
  const dearest = new Map<string, DearestOfAll & { readonly index: number }>()
  let charted: (ChartedSession & { readonly index: number }) | undefined
  return {
    add(index, report, traces) {
      reports.set(index, report)
      const { session, steps } = report
      if (!charted || steps > charted.steps || (steps === charted.steps && index < charted.index))
        charted = { session, steps, traces, index }
      for (const trace of traces) {
        const found = findDearest(trace)
        if (!found) continue
        const key = `${trace.window} ${trace.strategy}`
        const known = dearest.get(key)
        if (!known || isDearer({ ...found, index }, known)) dearest.set(key, { ...found, session, index })
      }
    },
    end(windows, skipped) {
      const inOrder = [...reports].toSorted(([a], [b]) => a - b).map(([, report]) => report)
      const report = toReport(inOrder, windows, skipped)
      return {
        report,
        paired: windows.map((window) => ({ window, rows: pairStrategies(inOrder, window, OWN) })),
        ...(charted && { charted }),
        dearest: windows.flatMap((window) => inReportOrder(report, window, [...dearest.values()])),
      }
    },
  }
}

interface Found {
  readonly dollars: number
  readonly index: number
}

function isDearer(a: Found, b: Found): boolean {
  return a.dollars > b.dollars || (a.dollars === b.dollars && a.index < b.index)
}

function inReportOrder(
  report: ReplayReport,
  window: number,
  found: readonly DearestOfAll[],
): readonly DearestOfAll[] {
  const pooled = report.windows.find((one) => one.window === window)
  return (pooled?.strategies ?? [])
    .filter((row) => row.at === undefined)
    .flatMap((row) => found.filter((one) => one.window === window && one.strategy === row.strategy))
}
