import type { Clock, ForkOutcome, Ports } from '../ports.ts'
import type { NamedBody } from '../situation/session.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { FAILURES_MAX, isBreakerOpen } from './breaker.ts'

// One keeper for everything that runs in parallel to a turn. It starts what a task says is due, one at a time, if bill and breaker allow
// it. Nobody waits for it; what it makes is taken between requests, if what it covers is still in view. Aborting the signal stops it.

/** What a task wants to do: it covers the conversation up to an entry. */
export interface BesideWish {
  readonly upTo: EntryId
}

/** What came of a run. */
export interface Brought<Made> {
  readonly made?: Made | undefined
  /** What it cost; appended whatever becomes of the rest. */
  readonly spent: readonly NamedBody[]
  /** For the trace. */
  readonly reason: string
  readonly hasFailed: boolean
}

/** Decides with `plan`, which is pure, and acts with `run`. */
export interface BesideTask<Moment, Wish extends BesideWish, Made> {
  /** Its name in traces. */
  readonly name: string
  /** Undefined if nothing is due. */
  readonly plan: (view: View, moment: Moment) => Wish | undefined
  readonly run: (wish: Wish, signal: AbortSignal) => Promise<Brought<Made>>
  /** While one runs, the newest wish waits for its end and includes the earlier ones. Absent: wishes in the meantime are dropped. */
  readonly waits?: boolean | undefined
  /** What is appended of it. Absent: it is kept here, until someone looks for it. */
  readonly toBodies?: (made: Made, upTo: EntryId) => readonly NamedBody[]
}

export interface KeeperSetup {
  readonly ports: Pick<Ports, 'trace'> & { readonly clock: Pick<Clock, 'now' | 'within'> }
  /** Whether the bill allows one more background call. */
  readonly maySpend: (view: View, sizeTokens: number) => boolean
  /** Failures in a row of the same session, before this keeper. */
  readonly failedBefore?: number | undefined
  readonly signal: AbortSignal
}

/** Made from the conversation up to an entry, after a boundary. */
export interface Covering<Made> {
  readonly made: Made
  readonly upTo: EntryId
  /** The boundary in force when it was made. */
  readonly boundary: EntryId | undefined
}

export interface Keeper<Moment, Made> {
  /** Starts what is due. */
  readonly consider: (view: View, moment: Moment) => void
  /** What was made since, to be appended now. */
  readonly take: (view: View) => readonly NamedBody[]
  /** What was made and still fits, if it is kept here. */
  readonly find: (view: View) => Covering<Made> | undefined
  /** Something is running, or has ended and was not taken. */
  readonly isWorking: () => boolean
  /** Waits for what is running, at most this many milliseconds. */
  readonly settle: (ms: number) => Promise<void>
}

export function createKeeper<Moment extends { readonly sizeTokens: number }, Wish extends BesideWish, Made>(
  task: BesideTask<Moment, Wish, Made>,
  { ports, maySpend, failedBefore = 0, signal }: KeeperSetup,
): Keeper<Moment, Made> {
  let working: Promise<void> | undefined
  let isUntaken = false
  let spent: readonly NamedBody[] = []
  let held: Covering<Made> | undefined
  let failures = failedBefore
  let waiting: Started<Wish> | undefined
  const run = async (wish: Wish, boundary: EntryId | undefined): Promise<void> => {
    const brought = await task.run(wish, signal)
    const { made, reason, hasFailed } = brought
    if (hasFailed) failures++
    else if (made !== undefined) failures = 0
    if (made !== undefined) held = { made, upTo: wish.upTo, boundary }
    spent = [...spent, ...brought.spent]
    isUntaken = true
    ports.trace({ name: task.name, reason, failures })
  }
  const find = (view: View): Covering<Made> | undefined =>
    held && restAfter(view, held) !== undefined ? held : undefined
  const isStopped = (view: View): boolean =>
    failures >= FAILURES_MAX || signal.aborted || isBreakerOpen(view, ports.clock.now())
  const isHeldBack = (view: View): boolean =>
    isStopped(view) ||
    (task.waits !== true && (working !== undefined || isUntaken || find(view) !== undefined))
  const start = ({ wish, view, boundary }: Started<Wish>): void => {
    working = run(wish, boundary)
      .catch((error: unknown) => {
        failures++
        ports.trace({ name: task.name, reason: reasonOf(error), failures })
      })
      .finally(() => {
        working = undefined
        const next = waiting
        waiting = undefined
        if (next && !isStopped(view)) start(next)
      })
  }
  const untilIdle = async (): Promise<void> => {
    for (let current = working; current; current = working) await current
  }
  return {
    consider: (view, moment) => {
      const wish = isHeldBack(view) ? undefined : task.plan(view, moment)
      // Usually nothing is due, and then the bill is not added up.
      if (!wish || !maySpend(view, moment.sizeTokens)) return
      const started = { wish, view, boundary: view.boundary?.entry.id }
      if (working) waiting = started
      else start(started)
    },
    take: (view) => {
      const bodies = [...spent]
      if (held && task.toBodies) {
        if (find(view)) bodies.push(...task.toBodies(held.made, held.upTo))
        else ports.trace({ name: task.name, reason: 'what they cover has left the view' })
        held = undefined
      }
      ;[spent, isUntaken] = [[], false]
      return bodies
    },
    find,
    isWorking: () => working !== undefined || isUntaken,
    settle: async (ms) => {
      if (working) await ports.clock.within(untilIdle(), ms)
    },
  }
}

interface Started<Wish> {
  readonly wish: Wish
  readonly view: View
  /** The boundary in force when the wish was decided on. */
  readonly boundary: EntryId | undefined
}

/** The first node that it does not cover; undefined if what it covers has left the view, or if there is a newer boundary. */
export function restAfter(
  view: View,
  { upTo, boundary }: Pick<Covering<unknown>, 'upTo' | 'boundary'>,
): number | undefined {
  if (view.boundary?.entry.id !== boundary) return undefined
  const last = view.nodes.findIndex(({ entries }) => entries.includes(upTo))
  return last < 0 ? undefined : last + 1
}

/** What a fork cost, under the name of its source. */
export function spentOn(outcome: ForkOutcome, source: string): readonly NamedBody[] {
  if (outcome.kind !== 'answered' && outcome.kind !== 'called-tools') return []
  const { model, usage } = outcome.response
  return [{ kind: 'spent', source, model, usage }]
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
