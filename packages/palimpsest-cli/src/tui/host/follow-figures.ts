import { calibrationOf, modelPolicy, sizeOf, type Session } from 'palimpsest/engine'
import type { LoopEvent } from 'palimpsest/loop'
import { estimateText, factorOf } from 'palimpsest/tokens'
import type { Entry, Totals } from 'palimpsest/transcript'

import type { HeadlessRun } from '../../print/run-headless.ts'
import { afterResponse, estimated, withUsage, type Figures } from '../screen/status-line.ts'

/** Of a session as it is opened: all of its requests count, and the size is not known to be as the provider counts until the next response. */
export function firstFigures(run: HeadlessRun, totals: Totals): Figures {
  const { costUsd, promptTokens, readTokens, estimatedUsd = 0 } = totals
  const isCostEstimated = estimatedUsd > 0
  return {
    used: sizeNow(run.session, run),
    isExact: false,
    costUsd,
    isCostEstimated,
    promptTokens,
    readTokens,
  }
}

/** Tokens of the next request, as far as is known. */
export function sizeNow({ view }: Session, { prefix, reading }: HeadlessRun): number {
  const { facts } = reading.model
  const thinking = modelPolicy(view.prefix?.model ?? prefix.model, facts)
  const calibration = calibrationOf(view, thinking, facts)
  const size = sizeOf(view, { thinking, calibration })
  // Before the first message system and tools are not told yet, and will be in it all the same.
  const ahead = view.prefix ? 0 : estimateText(prefix.system) + estimateText(prefix.tools)
  return size + Math.ceil(factorOf(calibration) * ahead)
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
