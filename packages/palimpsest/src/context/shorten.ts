import { drive } from '../drive.ts'
import { autoCompact, type AutoLimits } from '../engine/auto-compact.ts'
import type { LoopEvent } from '../loop/events.ts'
import { takeEngineSteps } from '../loop/take-engine-steps.ts'
import { grow, type ContextSetup, type ContextState } from './context-state.ts'

export interface Shortening extends Pick<ContextSetup, 'ports'> {
  readonly hear: (event: LoopEvent) => void
}

/** A compaction without which no request can be sent. False if it changed nothing; a notice then says why. */
export async function shorten(
  state: ContextState,
  limits: Omit<AutoLimits, 'cause'>,
  { ports, hear }: Shortening,
  signal: AbortSignal,
): Promise<boolean> {
  const before = state.session
  const at = { session: before }
  const steps = autoCompact(before, { ...limits, cause: 'overflow' }, ports, signal)
  await drive(takeEngineSteps(at, steps, ports), hear)
  if (at.session === before) return false
  grow(state, at.session)
  return true
}
