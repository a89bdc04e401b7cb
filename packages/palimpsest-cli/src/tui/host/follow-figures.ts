import type { LoopEvent } from 'palimpsest/loop'
import type { Entry, Totals } from 'palimpsest/transcript'

import { afterResponse, estimated, withUsage, type Figures } from '../screen/status-line.ts'

/** Figures of a session as it is opened: all its requests count, and the size is an estimate until the next response. */
export function firstFigures(used: number, totals: Totals): Figures {
  const { costUsd, promptTokens, readTokens, estimatedUsd = 0 } = totals
  return { used, isExact: false, costUsd, isCostEstimated: estimatedUsd > 0, promptTokens, readTokens }
}

export function figuresAfter(
  figures: Figures,
  event: LoopEvent,
  { spentUsd, size }: { readonly spentUsd: () => number; readonly size: () => number },
): Figures {
  switch (event.type) {
    case 'message': {
      const { usage } = event.entry
      return usage ? afterResponse(figures, usage, spentUsd()) : estimated(figures, size(), spentUsd())
    }
    case 'tool-end':
    case 'request-start':
      return estimated(figures, size(), spentUsd())
    case 'engine':
      return event.entries.some(({ kind }) => CHANGING.has(kind))
        ? estimated(event.entries.reduce(withSpent, figures), size(), spentUsd())
        : figures
    default:
      return figures
  }
}

const CHANGING: ReadonlySet<Entry['kind']> = new Set(['boundary', 'edit', 'spent'])

/** Summaries and notes are requests of the session too. */
function withSpent(figures: Figures, entry: Entry): Figures {
  if (entry.kind !== 'spent') return figures
  const counted = withUsage(figures, entry.usage)
  return entry.estimated ? { ...counted, isCostEstimated: true } : counted
}
