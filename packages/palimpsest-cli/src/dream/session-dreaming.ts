import type { Clock, TraceEvent } from 'palimpsest'
import { passGates, takeConsolidation, type DreamPolicy, type GateState } from 'palimpsest/dreaming'
import { createRunner, failuresAfter, type Ran } from 'palimpsest/engine'

import type { Settings } from '../agent/settings/settings-shape.ts'
import type { Scope } from '../memory/memory-scopes.ts'
import type { Tasks } from '../tasks/background-task.ts'
import { isRunning } from '../tasks/background-task.ts'
import type { DreamBase } from './dream-agent.ts'
import type { DreamBill } from './dream-bill.ts'
import { dreamPolicy, type DreamPlace } from './dream-place.ts'
import { startDream, triedIn, type DreamStart } from './start-dream.ts'

// Dreams of a running session: considered when a turn has ended, in the background; nothing waits for them. A runner asks the gates. The
// dream itself is a task of the session; its failures are counted per place, and the gates ask how many there were.

export interface SessionDreaming {
  /** A turn has ended. Returns at once. */
  readonly consider: () => void
  /** The user asks for a dream now: this skips the gates, but not the lock. Returns a text for the user. */
  readonly dreamNow: () => Promise<{ readonly isStarted: boolean; readonly text: string }>
  /** Ends what is under way and starts nothing more. Waits at most `waitMs`. */
  readonly close: (waitMs: number) => Promise<void>
}

export interface DreamingSetup {
  /** In the order in which they are checked. */
  readonly places: readonly DreamPlace[]
  readonly settings: Pick<Settings, 'dream' | 'memory'>
  readonly isFlagOn: () => boolean
  /** The current base: by then the session may have sent its prefix. */
  readonly base: () => DreamBase | undefined
  readonly session: string
  readonly bill: Pick<DreamBill, 'see'>
  readonly tasks: Tasks
  /** No user is there who could end it with the process, so only a separate process may dream. */
  readonly isHeadless: boolean
  /** Starts `palimpsest dream` as a separate process. Undefined: not possible. */
  readonly startDetached: ((scope: Scope) => void) | undefined
  readonly clock: Pick<Clock, 'within'>
  readonly trace: (event: TraceEvent) => void
  readonly signal: AbortSignal
}

export function createSessionDreaming(setup: DreamingSetup): SessionDreaming {
  const looked = setup.places.map((place): Looked => ({
    place,
    state: { scannedAt: undefined, failures: 0 },
  }))
  const { settings, tasks, trace, clock } = setup
  const looks = createRunner<readonly Looked[], never>(
    { name: 'dream-gate', run: async (places, signal) => await look(places, setup, signal) },
    { ports: { trace, clock } },
  )
  return {
    consider: () => {
      const isFree = (): boolean => !tasks.list().some((task) => isRunning(task.status()))
      void looks.consider(() => (isFree() ? looked : undefined))
    },
    dreamNow: async () => {
      if (settings.memory.mode === 'off' || settings.memory.mode === 'read-only')
        return notNow(`memory is ${settings.memory.mode} (setting memory.mode): nothing is consolidated`)
      const [first] = looked
      if (!first || !(await first.place.hasMemories())) return notNow('this project has no memories yet')
      const { gates } = first.place
      const last = await gates.record.look()
      const taken = await takeConsolidation(gates)
      if (taken.kind === 'held') return notNow(`not now: ${taken.reason}`)
      begin({ hold: taken.hold, lastMs: last.lastMs }, first, setup)
      return { isStarted: true, text: 'dreaming; /tasks shows it' }
    },
    close: async (waitMs) => {
      looks.stop()
      const ended = async (): Promise<void> => {
        await looks.settle(waitMs)
        await tasks.endAll()
      }
      await clock.within(ended(), waitMs)
    },
  }
}

interface Looked {
  readonly place: DreamPlace
  readonly state: GateState
}

/** Asks the gates of each place until a dream begins: one at a time, whatever else is due begins after the next turn. */
async function look(
  looked: readonly Looked[],
  setup: DreamingSetup,
  signal: AbortSignal,
): Promise<Ran<never>> {
  if (setup.isHeadless && !setup.settings.dream.detached) return { hasFailed: false }
  try {
    for (const one of looked) if (await lookAt(one, setup, signal)) break
    return { hasFailed: false }
  } catch (error) {
    // No dream has failed, so the gates are asked again after the next turn.
    return { reason: error instanceof Error ? error.message : String(error), hasFailed: false }
  }
}

/** Whether a dream began. */
async function lookAt({ place, state }: Looked, setup: DreamingSetup, signal: AbortSignal): Promise<boolean> {
  if (!(await place.hasMemories())) return false
  const outcome = await passGates(policyOf(setup), state, place.gates)
  if (outcome.kind === 'shut') return false
  const isBeside = setup.settings.dream.detached && setup.startDetached !== undefined
  const mayBegin = isBeside || !signal.aborted
  if (mayBegin && !isBeside) begin(outcome, { place, state }, setup)
  // A separate process takes the lock itself.
  else await outcome.hold.giveUp()
  if (mayBegin && isBeside) setup.startDetached?.(place.memory.scope)
  return mayBegin
}

function begin(
  due: Pick<DreamStart, 'hold' | 'lastMs'>,
  { place, state }: Looked,
  setup: DreamingSetup,
): void {
  const { session, tasks, bill } = setup
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
      state.failures = failuresAfter(triedIn(ended), state.failures)
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
