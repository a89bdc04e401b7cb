import { FAILURES_MAX } from '../../background/breaker.ts'
import type { TraceEvent } from '../../ports.ts'
import { lastConsolidation, takeConsolidation, type Hold, type LockPorts } from './consolidation-lock.ts'
import { AHEAD_MS_MAX, restMs, SCAN_EVERY_MS, type DreamPolicy } from './policy.ts'

// Whether memory should be consolidated now. The cheapest question comes first; each answer is traced with its reason.

export type Gate = 'enabled' | 'hours' | 'rest' | 'scan' | 'sessions' | 'lock'

export type GateOutcome =
  | { readonly kind: 'due'; readonly hold: Hold; readonly lastMs: number | null }
  | { readonly kind: 'shut'; readonly gate: Gate; readonly reason: string }

export interface GatePorts extends LockPorts {
  readonly trace: (event: TraceEvent) => void
  /** Sessions of the project used since then, without this one. */
  readonly touchedSince: (ms: number) => Promise<number>
  /** How many of the last ones failed in a row, and when the last of them did. */
  readonly failures: () => Promise<{ readonly inRow: number; readonly lastMs: number }>
}

/** What one process keeps between two questions. */
export interface GateState {
  scannedAt: number | undefined
  /** Failures in a row, among the dreams that it began. */
  failures: number
}

const HOUR_MS = 60 * 60_000

export async function passGates(
  policy: DreamPolicy,
  state: GateState,
  ports: GatePorts,
): Promise<GateOutcome> {
  const outcome = await ask(policy, state, ports)
  const [gate, reason] = outcome.kind === 'shut' ? [outcome.gate, outcome.reason] : ['lock', 'taken']
  ports.trace({ name: 'dream-gate', gate, reason, isOpen: outcome.kind === 'due' })
  return outcome
}

async function ask(policy: DreamPolicy, state: GateState, ports: GatePorts): Promise<GateOutcome> {
  const { clock, touchedSince, failures } = ports
  if (!policy.isOn) return shut('enabled', 'dreaming is off (setting dream.enabled, flag dreaming)')
  const now = clock.now()
  const last = await lastConsolidation(ports)
  if (last.kind === 'held') return shut('lock', last.reason)
  const lastMs = believable(last.lastMs, now)
  const hours = lastMs === null ? Infinity : Math.max(0, (now - lastMs) / HOUR_MS)
  if (hours < policy.hours)
    return shut('hours', `the last one was ${hours.toFixed(1)} hours ago; it is due after ${policy.hours}`)
  const failed = await failures()
  const resting = restText(state.failures, failed, now)
  if (resting !== undefined) return shut('rest', resting)
  if (state.scannedAt !== undefined && Math.abs(now - state.scannedAt) < SCAN_EVERY_MS)
    return shut('scan', `sessions were counted less than ${SCAN_EVERY_MS / 60_000} minutes ago`)
  state.scannedAt = now
  const touched = await touchedSince(lastMs ?? 0)
  if (touched < policy.sessions)
    return shut('sessions', `${touched} other sessions were used since; it is due after ${policy.sessions}`)
  const taken = await takeConsolidation(ports)
  return taken.kind === 'held' ? shut('lock', taken.reason) : { kind: 'due', hold: taken.hold, lastMs }
}

/** A clock that was once far ahead must not hold dreams off until that time comes. */
function believable(lastMs: number | null, now: number): number | null {
  return lastMs !== null && lastMs - now > AHEAD_MS_MAX ? null : lastMs
}

function restText(
  ownFailures: number,
  { inRow, lastMs }: { readonly inRow: number; readonly lastMs: number },
  now: number,
): string | undefined {
  const how = '`palimpsest dream --now` tries again'
  if (ownFailures >= FAILURES_MAX)
    return `${ownFailures} dreams of this session failed in a row: it starts no more. ${how}`
  const rest = restMs(inRow)
  if (Math.abs(now - lastMs) >= rest) return undefined
  const failed = inRow === 1 ? 'the last one failed' : `the last ${inRow} failed`
  const hours = rest === HOUR_MS ? '1 hour' : `${rest / HOUR_MS} hours`
  return `${failed}; dreaming pauses for ${hours}. ${how}`
}

function shut(gate: Gate, reason: string): GateOutcome {
  return { kind: 'shut', gate, reason }
}
