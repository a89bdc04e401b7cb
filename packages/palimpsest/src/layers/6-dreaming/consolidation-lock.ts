import type { Arbiter, Clock, ConsolidationRecord, Holder } from '../../ports.ts'
import { STALE_MS, UNSEEN_STALE_MS } from './policy.ts'

// (D1) One consolidation at a time for a folder. The arbiter decides; the record shows it to everyone and keeps the time of the last one.

export type ProcessState = 'running' | 'gone' | 'unknown'

export interface LockPorts {
  readonly arbiter: Arbiter
  readonly record: ConsolidationRecord
  readonly clock: Pick<Clock, 'now'>
  readonly newId: () => string
  /** This process. */
  readonly self: () => Promise<Pick<Holder, 'pid' | 'host' | 'startTicks' | 'boot'>>
  readonly stateOf: (holder: Holder) => Promise<ProcessState>
  /** What is taken: the path of the folder. */
  readonly name: string
}

/** A consolidation in progress: exactly one of `finish` and `giveUp` ends it. */
export interface Hold {
  readonly token: string
  /** Whether it is still ours: a process that slept long enough counts as dead. */
  readonly isOurs: () => Promise<boolean>
  /** It is done: the last consolidation was now. */
  readonly finish: () => Promise<void>
  /** Nothing came of it: the time of the last consolidation stays as it was. */
  readonly giveUp: () => Promise<void>
}

export type LockOutcome =
  | { readonly kind: 'taken'; readonly hold: Hold }
  | { readonly kind: 'held'; readonly reason: string }

export async function takeConsolidation(ports: LockPorts): Promise<LockOutcome> {
  const { arbiter, record, clock, newId, self, name } = ports
  const has = await arbiter.find(name)
  if (has && !(await isStale(has, ports))) return { kind: 'held', reason: heldText(has) }
  const holder: Holder = {
    ...(await self()),
    token: newId(),
    at: clock.now(),
    replaced: await lastBefore(has, record),
  }
  if (!(await arbiter.take(name, holder, has?.token)))
    return { kind: 'held', reason: 'another process was a moment faster' }
  try {
    await record.begin(holder)
  } catch (error) {
    // What nobody can see is not held: otherwise everyone would wait for a process that does nothing.
    await arbiter.release(name, holder.token)
    throw error
  }
  return { kind: 'taken', hold: holdOf(holder, ports) }
}

/** When the last consolidation was. A dead holder's mark is removed, and the time that it replaced is restored. */
export async function lastConsolidation(
  ports: LockPorts,
): Promise<
  | { readonly kind: 'last'; readonly lastMs: number | null }
  | { readonly kind: 'held'; readonly reason: string }
> {
  const { record, arbiter, name } = ports
  const { lastMs, isHeld } = await record.look()
  if (!isHeld) return { kind: 'last', lastMs }
  const holder = await record.holder()
  if (!holder) return { kind: 'last', lastMs }
  const deciding = await arbiter.find(name)
  if (deciding && deciding.token !== holder.token) return { kind: 'held', reason: heldText(deciding) }
  if (!(await isStale(holder, ports))) return { kind: 'held', reason: heldText(holder) }
  const taken = await takeConsolidation(ports)
  if (taken.kind === 'held') return taken
  await taken.hold.giveUp()
  return { kind: 'last', lastMs: holder.replaced }
}

function holdOf({ token, replaced }: Holder, { arbiter, record, clock, name }: LockPorts): Hold {
  const isOurs = async (): Promise<boolean> => (await arbiter.find(name))?.token === token
  // The record first: if we die between the two, the row names a dead process, and nothing else is wrong.
  const end = async (lastMs: number | null): Promise<void> => {
    if (!(await isOurs())) return
    try {
      await record.end(lastMs)
    } finally {
      await arbiter.release(name, token)
    }
  }
  return {
    token,
    isOurs,
    finish: async () => await end(clock.now()),
    giveUp: async () => await end(replaced),
  }
}

/** If the dead holder had not recorded anything yet, or had finished, the record's own time counts. */
async function lastBefore(dead: Holder | undefined, record: ConsolidationRecord): Promise<number | null> {
  const { lastMs, isHeld } = await record.look()
  if (!isHeld) return lastMs
  const shown = await record.holder()
  return shown && (dead === undefined || shown.token === dead.token) ? shown.replaced : lastMs
}

async function isStale(holder: Holder, { clock, stateOf }: LockPorts): Promise<boolean> {
  // A holder that seems to have begun long after now began before the clock was set back.
  const ageMs = Math.abs(clock.now() - holder.at)
  if (ageMs <= STALE_MS) return false
  const state = await stateOf(holder)
  return state === 'gone' || (state === 'unknown' && ageMs > UNSEEN_STALE_MS)
}

function heldText({ pid, host, at }: Holder): string {
  return `process ${pid} on ${host} has been consolidating since ${new Date(at).toISOString()}`
}
