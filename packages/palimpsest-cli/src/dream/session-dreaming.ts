import type { Clock, TraceEvent } from 'palimpsest'
import { passGates, takeConsolidation, type DreamPolicy, type GateState } from 'palimpsest/dreaming'

import type { Settings } from '../agent/settings/settings-shape.ts'
import type { Tasks } from '../tasks/background-task.ts'
import { isRunning } from '../tasks/background-task.ts'
import type { DreamBase } from './dream-agent.ts'
import type { DreamBill } from './dream-bill.ts'
import { dreamPolicy, type DreamPlace } from './dream-place.ts'
import { failuresAfter, startDream, type DreamStart } from './start-dream.ts'

// Dreams of a session that goes on: looked for when a turn has ended, beside it, and never waited for.

export interface SessionDreaming {
  /** A turn has ended. Returns at once. */
  readonly consider: () => void
  /** The user asks for one now: the gates are passed over, but the lock is not. What to tell. */
  readonly dreamNow: () => Promise<{ readonly isStarted: boolean; readonly text: string }>
  /** Ends what is under way and begins nothing more. Waits at most so long. */
  readonly close: (waitMs: number) => Promise<void>
}

export interface DreamingSetup {
  readonly place: DreamPlace
  readonly settings: Pick<Settings, 'dream' | 'memory'>
  readonly isFlagOn: () => boolean
  /** As it is now: the session's prefix may be told by then. */
  readonly base: () => DreamBase | undefined
  readonly session: string
  readonly bill: Pick<DreamBill, 'see'>
  readonly tasks: Tasks
  /** Nobody is there who could end it with the process: only a process of its own is started. */
  readonly isHeadless: boolean
  /** Starts `palimpsest dream` beside this process. Undefined: it cannot. */
  readonly startDetached: (() => void) | undefined
  readonly clock: Pick<Clock, 'within'>
  readonly trace: (event: TraceEvent) => void
  readonly signal: AbortSignal
}

export function createSessionDreaming(setup: DreamingSetup): SessionDreaming {
  const state: GateState = { scannedAt: undefined, failures: 0 }
  const { place, settings, tasks, trace } = setup
  let looking: Promise<void> | undefined
  let isClosed = false
  const isEmpty = async (): Promise<boolean> => (await place.memory.folder.read()).texts.size === 0
  const look = async (): Promise<void> => {
    const { detached } = settings.dream
    if (setup.isHeadless && !detached) return
    const outcome = await passGates(policyOf(setup), state, place.gates)
    if (outcome.kind === 'shut') return
    const isBeside = detached && setup.startDetached !== undefined
    const mayBegin = (isBeside || !isClosed) && !(await isEmpty())
    if (mayBegin && !isBeside) return begin(outcome, state, setup)
    // A process of its own takes the lock itself.
    await outcome.hold.giveUp()
    if (mayBegin) setup.startDetached?.()
  }
  return {
    consider: () => {
      if (isClosed || looking || tasks.list().some((task) => isRunning(task.status()))) return
      looking = look()
        .catch((error: unknown) => {
          trace({ name: 'dream-gate', reason: error instanceof Error ? error.message : String(error) })
        })
        .finally(() => {
          looking = undefined
        })
    },
    dreamNow: async () => {
      if (settings.memory.mode === 'off' || settings.memory.mode === 'read-only')
        return notNow(`memory is ${settings.memory.mode} (setting memory.mode): nothing is consolidated`)
      if (await isEmpty()) return notNow('there are no memories yet')
      const last = await place.gates.record.look()
      const taken = await takeConsolidation(place.gates)
      if (taken.kind === 'held') return notNow(`not now: ${taken.reason}`)
      begin({ hold: taken.hold, lastMs: last.lastMs }, state, setup)
      return { isStarted: true, text: 'dreaming; /tasks shows it' }
    },
    close: async (waitMs) => {
      isClosed = true
      const ended = async (): Promise<void> => {
        await looking
        await tasks.endAll()
      }
      await setup.clock.within(ended(), waitMs)
    },
  }
}

function begin(due: Pick<DreamStart, 'hold' | 'lastMs'>, state: GateState, setup: DreamingSetup): void {
  const { place, session, tasks, bill } = setup
  const { task, outcome } = startDream(
    {
      ...due,
      policy: policyOf(setup),
      place,
      base: setup.base(),
      isDry: false,
      session,
      onEvent: bill.see,
      onChange: tasks.changed,
    },
    setup.signal,
  )
  tasks.add(task)
  void outcome.then(
    (ended) => {
      state.failures = failuresAfter(ended, state.failures)
    },
    () => state.failures++,
  )
}

function policyOf({ settings, isFlagOn }: DreamingSetup): DreamPolicy {
  return dreamPolicy(settings, isFlagOn())
}

function notNow(text: string): { readonly isStarted: boolean; readonly text: string } {
  return { isStarted: false, text }
}
