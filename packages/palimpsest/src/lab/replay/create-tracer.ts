import { drive } from '../../drive.ts'
import { factsOf } from './replay-one.ts'
import type { ReplaySession } from './replay-session.ts'
import { runStrategy } from './run-strategy.ts'
import { fitSizes } from './size-model.ts'
import { none } from './strategies/none.ts'
import type { Strategy } from './strategies/strategy.ts'
import type { TracedRequest } from './traced-request.ts'

// How the size of a session's requests changes with each strategy, collected during a replay that runs anyway.

export interface Trace {
  readonly strategy: string
  readonly window: number
  readonly requests: readonly TracedRequest[]
}

export interface Tracer {
  /** Replay these instead of the given ones. */
  readonly strategies: readonly Strategy[]
  /** Call after the replay. Traces come in the order in which the strategies ran. */
  readonly end: (session: ReplaySession, windows: readonly number[]) => Promise<readonly Trace[]>
}

export function createTracer(strategies: readonly Strategy[]): Tracer {
  const heard = new Map<string, { strategy: string; window: number; requests: TracedRequest[] }>()
  const watched = (strategy: Strategy): Strategy => ({
    ...strategy,
    watch(request, window) {
      const key = `${window} ${strategy.name}`
      const trace = heard.get(key) ?? { strategy: strategy.name, window, requests: [] }
      trace.requests.push(request)
      heard.set(key, trace)
    },
  })
  return {
    strategies: strategies.map((strategy) => (strategy.name === none.name ? strategy : watched(strategy))),
    async end(session, windows) {
      const own = [...heard.values()]
      if (strategies.every(({ name }) => name !== none.name)) return own
      const requests = await traceUnmanaged(session)
      return windows.flatMap((window) => [
        { strategy: none.name, window, requests },
        ...own.filter((trace) => trace.window === window),
      ])
    },
  }
}

/** The replay runs the reference once for all others, with no window of its own. It runs again here, and appears in every window. */
async function traceUnmanaged(session: ReplaySession): Promise<readonly TracedRequest[]> {
  const requests: TracedRequest[] = []
  const strategy: Strategy = { ...none, watch: (request) => void requests.push(request) }
  const sizes = fitSizes(session, factsOf)
  const run = runStrategy(session, { strategy, windowTokens: ANY_WINDOW, sizes, factsOf, bills: true })
  await drive(run)
  return requests
}

/** An unbounded strategy uses no window, but thresholds are computed from one all the same. */
const ANY_WINDOW = 200_000
