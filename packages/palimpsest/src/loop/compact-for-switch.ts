import { autoCompact } from '../engine/auto-compact.ts'
import type { Session } from '../situation/session.ts'
import { sizeOf, type Sizing } from '../situation/size-of.ts'
import type { Thresholds } from '../situation/thresholds.ts'
import { createAskModel } from './ask-once.ts'
import type { LoopEvent } from './events.ts'
import type { ForkPoint } from './fork-point.ts'
import type { TurnCompaction, TurnSetup } from './run-turn.ts'
import { takeEngineSteps } from './take-engine-steps.ts'
import { thresholdsInForce } from '../situation/after-undo.ts'
import { isFull } from '../situation/is-full.ts'

// A conversation continues with another model. If it does not fit that model's window, the current model compacts it first: it has the
// conversation in its cache, and can still read all of it.

/** The model that comes next. */
export interface SwitchTarget extends Sizing {
  readonly thresholds: Thresholds
}

/** What the current model needs for a compaction. */
export interface SwitchSetup extends Pick<TurnSetup, 'ports' | 'situation'> {
  readonly forkPoint?: ForkPoint | undefined
  readonly compaction: TurnCompaction
}

/** The session in a size that the other model can take; unchanged if it already fits, or if nothing may compact. */
export async function* compactForSwitch(
  begin: Session,
  to: SwitchTarget,
  setup: SwitchSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Session> {
  const sizeTokens = sizeOf(begin.view, setup.situation)
  // The other model's tokenizer may count more.
  const thresholds = thresholdsInForce(begin.view, to.thresholds)
  if (!isFull(Math.max(sizeTokens, sizeOf(begin.view, to)), thresholds)) return begin
  const { ports, forkPoint, situation } = setup
  const compaction = { ...setup.compaction, askModel: createAskModel(ports), runFork: forkPoint?.runFork }
  const limits = { ...situation, compaction, thresholds, sizeTokens, source: 'main' }
  const steps = autoCompact(begin, { ...limits, cause: 'smaller-window' }, ports, signal)
  const at = { session: begin }
  yield* takeEngineSteps(at, steps, ports)
  return at.session
}
