import type { Clock, ForkOutcome, Ports } from '../ports.ts'
import type { NamedBody } from '../situation/session.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { isBreakerOpen } from './breaker.ts'
import { createRunner, type Ran, type Runner } from './create-runner.ts'

// One keeper for everything that is made from a conversation in parallel to its turns: a runner whose task plans from the view. What it
// makes is taken between requests, if what it covers is still in view.

/** What a task wants to do: it covers the conversation up to an entry. */
export interface BesideWish {
  readonly upTo: EntryId
}

/** What came of a run. */
export interface Brought<Made> extends Ran<Made> {
  /** What it cost; appended whatever becomes of the rest. */
  readonly spent: readonly NamedBody[]
  readonly reason: string
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

export interface Keeper<Moment, Made> extends Pick<Runner<never, Made>, 'settle' | 'stop'> {
  /** Starts what is due. */
  readonly consider: (view: View, moment: Moment) => void
  /** What was made since, to be appended now. */
  readonly take: (view: View) => readonly NamedBody[]
  /** What was made and still fits, if it is kept here. */
  readonly find: (view: View) => Covering<Made> | undefined
  /** Something is running, or has ended and was not taken. */
  readonly isWorking: () => boolean
}

export function createKeeper<Moment extends { readonly sizeTokens: number }, Wish extends BesideWish, Made>(
  task: BesideTask<Moment, Wish, Made>,
  { ports, maySpend, failedBefore, signal }: KeeperSetup,
): Keeper<Moment, Made> {
  let isUntaken = false
  let spent: readonly NamedBody[] = []
  let held: Covering<Made> | undefined
  const isBroken = (view: View): boolean => isBreakerOpen(view, ports.clock.now())
  const runner = createRunner<Due<Wish>, Made>(
    {
      name: task.name,
      run: async ({ wish, boundary }, stopped) => {
        const brought = await task.run(wish, stopped)
        const { made } = brought
        if (made !== undefined) held = { made, upTo: wish.upTo, boundary }
        spent = [...spent, ...brought.spent]
        isUntaken = true
        return brought
      },
      maySpend: ({ view, sizeTokens }) => maySpend(view, sizeTokens),
      mayStillStart: task.waits === true ? ({ view }) => !isBroken(view) : undefined,
    },
    { ports, failedBefore, signal },
  )
  const find = (view: View): Covering<Made> | undefined =>
    held && restAfter(view, held) !== undefined ? held : undefined
  const isHeldBack = (view: View): boolean =>
    isBroken(view) || (task.waits !== true && (isUntaken || find(view) !== undefined))
  return {
    consider: (view, moment) => {
      void runner.consider(() => {
        const wish = isHeldBack(view) ? undefined : task.plan(view, moment)
        return wish && { wish, view, sizeTokens: moment.sizeTokens, boundary: view.boundary?.entry.id }
      })
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
    isWorking: () => runner.isWorking() || isUntaken,
    settle: runner.settle,
    stop: runner.stop,
  }
}

interface Due<Wish> {
  readonly wish: Wish
  readonly view: View
  readonly sizeTokens: number
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
