import { autoCompact } from '../engine/auto-compact.ts'
import { undoneIn } from '../situation/after-undo.ts'
import type { Session } from '../situation/session.ts'
import { sizeOf } from '../situation/size-of.ts'
import { TTL_MS, type Ttl } from '../ledger/cache.ts'
import { createAskModel } from './ask-once.ts'
import type { SwitchSetup } from './compact-for-switch.ts'
import type { LoopEvent } from './events.ts'
import { takeEngineSteps } from './take-engine-steps.ts'
import { fullAt } from '../situation/is-full.ts'

// A long conversation sits idle: while its cache lives, a summary costs a tenth of what the next message would pay for the complete
// conversation. Off by default: a user who comes back a minute later would rather have all of it.

/** How long before the cache expires: enough time to write a summary. */
const BEFORE_EXPIRY_MS = 60_000
/** Share of the threshold below which a conversation is not long. */
const LONG_SHARE = 0.5

export interface IdleMoment {
  /** When the last request was sent, in milliseconds since 1970: cache lifetimes count from here. */
  readonly lastRequestAt: number
  readonly lifetime: Ttl
}

/** Milliseconds to wait until the moment comes; undefined if the cache has expired already. */
export function waitForExpiryMs({ lastRequestAt, lifetime }: IdleMoment, now: number): number | undefined {
  const expiresAt = lastRequestAt + TTL_MS[lifetime]
  return now >= expiresAt ? undefined : Math.max(0, expiresAt - BEFORE_EXPIRY_MS - now)
}

/** Compacts the session if the moment has come, it is long enough and nothing was undone; otherwise returns it unchanged. */
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
  if (undoneIn(begin.view).isAny || sizeTokens < LONG_SHARE * fullAt(situation.thresholds)) return begin
  const compaction = { ...setup.compaction, askModel: createAskModel(ports), runFork: forkPoint?.runFork }
  const limits = { ...situation, compaction, sizeTokens, source: 'main', cause: 'idle' as const }
  const at = { session: begin }
  yield* takeEngineSteps(at, autoCompact(begin, limits, ports, signal), ports)
  return at.session
}
