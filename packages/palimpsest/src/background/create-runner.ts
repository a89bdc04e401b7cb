import type { Clock, Ports } from '../ports.ts'
import { FAILURES_MAX, failuresAfter, type Tried } from './breaker.ts'
import { stopWith } from './stop-with.ts'

// What all background work has in common, whatever it is about: it runs one at a time, after failures in a row no more of it is started,
// the bill may refuse it, `stop` ends it, and nobody waits for it.

/** What came of a run. */
export interface Ran<Made> extends Tried {
  readonly made?: Made | undefined
  /** For the trace. Absent: there is nothing to trace, or the run has traced it. */
  readonly reason?: string | undefined
}

/** What is run, and when it may start. */
export interface RunnerTask<Wish, Made> {
  /** Its name in traces. */
  readonly name: string
  readonly run: (wish: Wish, signal: AbortSignal) => Promise<Ran<Made>>
  /** Whether the bill allows it. Asked only if something is due, since adding up the bill takes time. Absent: it has a limit of its own. */
  readonly maySpend?: ((wish: Wish) => boolean) | undefined
  /** While one runs, the newest wish waits for its end, and starts if this still allows it. Absent: wishes in the meantime are dropped. */
  readonly mayStillStart?: ((wish: Wish) => boolean) | undefined
}

/** What a runner gets from its host. */
export interface RunnerSetup {
  readonly ports: Pick<Ports, 'trace'> & { readonly clock: Pick<Clock, 'within'> }
  /** Failures in a row of the same session, before this runner. */
  readonly failedBefore?: number | undefined
  /** Aborting it has the effect of `stop`. Absent: only `stop` ends it. */
  readonly signal?: AbortSignal | undefined
}

/** Background work of one kind. */
export interface Runner<Wish, Made> {
  /**
   * Starts what `plan` says is due; does not ask it if nothing may start. Returns at once. The promise is for those who want what is made:
   * it never rejects. Undefined: nothing was started now.
   */
  readonly consider: (plan: () => Wish | undefined) => Promise<Made | undefined> | undefined
  readonly isWorking: () => boolean
  /** Waits for what is running and for what waits for its end, at most this many milliseconds. */
  readonly settle: (ms: number) => Promise<void>
  /** Aborts the signal of what is running, and starts nothing more. */
  readonly stop: () => void
}

/** Runs background work one at a time, until it fails too often or is stopped. */
export function createRunner<Wish, Made>(
  { name, run, maySpend, mayStillStart }: RunnerTask<Wish, Made>,
  { ports, failedBefore = 0, signal: outer }: RunnerSetup,
): Runner<Wish, Made> {
  const { signal, stop } = stopWith(outer)
  let working: Promise<Made | undefined> | undefined
  let waiting: Wish | undefined
  let failures = failedBefore
  const isQuiet = (): boolean => failures >= FAILURES_MAX || signal.aborted
  const runSafely = async (wish: Wish): Promise<Ran<Made>> => {
    try {
      return await run(wish, signal)
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), hasFailed: true }
    }
  }
  const tryOnce = async (wish: Wish): Promise<Made | undefined> => {
    const ran = await runSafely(wish)
    failures = failuresAfter(ran, failures)
    if (ran.reason !== undefined) ports.trace({ name, reason: ran.reason, failures })
    return ran.made
  }
  const start = (wish: Wish): Promise<Made | undefined> => {
    const started = tryOnce(wish).finally(() => {
      working = undefined
      const next = waiting
      waiting = undefined
      if (next !== undefined && !isQuiet() && mayStillStart?.(next)) void start(next)
    })
    working = started
    return started
  }
  const untilIdle = async (): Promise<void> => {
    for (let current = working; current; current = working) await current
  }
  return {
    consider: (plan) => {
      if (isQuiet() || (working && !mayStillStart)) return undefined
      const wish = plan()
      if (wish === undefined || maySpend?.(wish) === false) return undefined
      if (!working) return start(wish)
      waiting = wish
      return undefined
    },
    isWorking: () => working !== undefined,
    settle: async (ms) => {
      if (working) await ports.clock.within(untilIdle(), ms)
    },
    stop,
  }
}
