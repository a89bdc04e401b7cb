import { autoCompact } from '../engine/auto-compact.ts'
import type { Session } from '../situation/session.ts'
import { sizeOf } from '../situation/size-of.ts'
import { TTL_MS, type Ttl } from '../ledger/cache.ts'
import { createAskModel } from './ask-once.ts'
import type { SwitchSetup } from './compact-for-switch.ts'
import type { LoopEvent } from './events.ts'
import { takeEngineSteps } from './take-engine-steps.ts'
import { fullAt } from '../situation/is-full.ts'

// A long conversation that lies idle: while its cache lives, a summary costs a tenth of what the next message would pay for the whole of
// it. Off unless the flag says so: whoever comes back a minute later would rather have had it all.

/** Before the cache expires: enough for a summary to be written. */
const BEFORE_EXPIRY_MS = 60_000
/** Of the threshold: below, it is not long. */
const LONG_SHARE = 0.5

export interface IdleMoment {
  /** When the last request was sent: lifetimes run from there. */
  readonly lastRequestAt: number
  readonly lifetime: Ttl
}

/** How long to wait until the moment has come; undefined where it has passed. */
export function waitForExpiryMs({ lastRequestAt, lifetime }: IdleMoment, now: number): number | undefined {
  const expiresAt = lastRequestAt + TTL_MS[lifetime]
  return now >= expiresAt ? undefined : Math.max(0, expiresAt - BEFORE_EXPIRY_MS - now)
}

/** The session compacted, if the moment has come and it is long enough; else as it was. */
export async function* compactBeforeExpiry(
  begin: Session,
  moment: IdleMoment,
  setup: SwitchSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Session> {
  const { ports, forkPoint, situation } = setup
  if (!ports.flags.value('compact-before-expiry')) return begin
  if (waitForExpiryMs(moment, ports.clock.now()) !== 0) return begin
  const sizeTokens = sizeOf(begin.view, situation)
  if (sizeTokens < LONG_SHARE * fullAt(situation.thresholds)) return begin
  const compaction = { ...setup.compaction, askModel: createAskModel(ports), runFork: forkPoint?.runFork }
  const limits = { ...situation, compaction, sizeTokens, source: 'main', cause: 'idle' as const }
  const at = { session: begin }
  yield* takeEngineSteps(at, autoCompact(begin, limits, ports, signal), ports)
  return at.session
}
