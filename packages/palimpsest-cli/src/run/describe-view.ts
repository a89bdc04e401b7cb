import {
  breakersOf,
  calibrationOf,
  describeContext,
  modelPolicy,
  type Breakers,
  type ContextDescription,
} from 'palimpsest/engine'
import { hitRateOf, type Totals, type View } from 'palimpsest/transcript'

import { CACHE_LIFETIMES } from './models/cache-lifetimes.ts'
import type { WindowReading } from './window-settings.ts'

export interface ViewDescription extends ContextDescription {
  readonly breakers: Breakers
  /** Of all requests of the session; absent before the first answer. */
  readonly hitRate: number | undefined
}

export interface Described {
  readonly model: string
  readonly reading: WindowReading
  readonly totals: Totals
  readonly now: number
}

/** What fills the window of a conversation now. The one source for the screen and for `palimpsest context`. */
export function describeView(view: View, { model, reading, totals, now }: Described): ViewDescription {
  const { window, thresholds, autoEnabled } = reading
  const { facts } = reading.model
  const thinking = modelPolicy(model, facts)
  const calibration = calibrationOf(view, thinking, facts)
  const setup = { window, thresholds, autoEnabled, calibration, thinking, lifetimes: CACHE_LIFETIMES }
  return {
    ...describeContext(view, setup),
    breakers: breakersOf(view, { now, model, thresholdTokens: thresholds.auto }),
    hitRate: hitRateOf(totals),
  }
}
