import { describeContext, type ContextDescription } from '../engine/describe-context.ts'
import { breakersOf, type Breakers } from '../layers/4-compaction/when/breakers.ts'
import { CACHE_LIFETIMES } from '../request/cache-lifetimes.ts'
import { fullAt } from '../situation/is-full.ts'
import { thresholdsInForce } from '../situation/after-undo.ts'
import { situationOf, type WindowReading } from '../situation/situation.ts'
import type { Thresholds } from '../situation/thresholds.ts'
import { hitRateOf, type Totals } from '../transcript/totals.ts'
import type { View } from '../transcript/view.ts'

export interface ViewDescription extends ContextDescription {
  readonly breakers: Breakers
  /** Those that hold now: after an undo it compacts later. */
  readonly thresholds: Thresholds
  /** Cache hit rate over all requests of the session; undefined before the first answer. */
  readonly hitRate: number | undefined
}

export interface Described {
  readonly model: string
  readonly reading: WindowReading
  readonly totals: Totals
  readonly now: number
}

/** Describes what fills the window of a conversation now. Screens, reports and the library all use it. */
export function describeView(view: View, { model, reading, totals, now }: Described): ViewDescription {
  const { window, autoEnabled } = reading
  const thresholds = thresholdsInForce(view, reading.thresholds)
  const { calibration, thinking } = situationOf(view, model, reading)
  const setup = { window, thresholds, autoEnabled, calibration, thinking, lifetimes: CACHE_LIFETIMES }
  return {
    ...describeContext(view, setup),
    thresholds,
    breakers: breakersOf(view, { now, model, thresholdTokens: fullAt(thresholds) }),
    hitRate: hitRateOf(totals),
  }
}
