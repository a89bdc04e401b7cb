import { calibrationOf, lastRequest, modelPolicy, type Session } from 'palimpsest/engine'
import {
  compactForSwitch,
  createForkPoint,
  type ForkPoint,
  type LoopEvent,
  type TurnCompaction,
} from 'palimpsest/loop'
import type { Ports } from 'palimpsest'
import { startCalibration } from 'palimpsest/tokens'

import { CACHE_LIFETIMES, lastBought } from './cache-lifetimes.ts'
import type { WindowReading } from '../window-settings.ts'

export interface SwitchRun {
  readonly session: Session
  readonly ports: Ports
  readonly maxTokens: number
  /** Of the model to come. */
  readonly prefix: { readonly model: string }
  readonly reading: WindowReading
  readonly readingOf?: (model: string) => WindowReading
  readonly compaction?: TurnCompaction
}

/** The session as the model of this run can take it: one that another model led, and that does not fit, is compacted by that one first. */
export async function* fitForSwitch(run: SwitchRun, signal: AbortSignal): AsyncGenerator<LoopEvent, Session> {
  const { session, prefix, reading, compaction, ports, maxTokens } = run
  const had = session.view.prefix
  if (!had || had.model === prefix.model || !compaction || !run.readingOf) return session
  const { facts } = run.readingOf(had.model).model
  const thinking = modelPolicy(had.model, facts)
  const calibration = calibrationOf(session.view, thinking, facts)
  const forkPoint = openForkPoint(session, { thinking, maxTokens }, ports)
  const to = {
    thinking: modelPolicy(prefix.model, reading.model.facts),
    calibration: startCalibration(reading.model.facts.tokenizer),
    thresholds: reading.thresholds,
  }
  const setup = { ports, forkPoint, thinking, calibration, facts, compaction }
  return yield* compactForSwitch(session, to, setup, signal)
}

/** Where forks of a stored session begin: the last request that its transcript tells of. */
export function openForkPoint(
  { view }: Session,
  options: {
    readonly thinking: ReturnType<typeof modelPolicy>
    readonly maxTokens: number
  },
  ports: Ports,
): ForkPoint {
  const forkPoint = createForkPoint({ ports })
  const lifetimes = { ...CACHE_LIFETIMES, messages: lastBought(view) }
  const last = lastRequest(view, { ...options, lifetimes, stream: true })
  if (last) forkPoint.moveTo(last.built, last.at)
  return forkPoint
}
