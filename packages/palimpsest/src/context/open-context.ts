import { cacheHistory } from '../accounts/cache-history.ts'
import { besideSpending, mayCallBeside } from '../background/background-bill.ts'
import { drive } from '../drive.ts'
import { createCompactionNews } from '../engine/compaction-news.ts'
import { createPreparedKeeper } from '../layers/4-compaction/summary/prepared-keeper.ts'
import { createForkPoint } from '../loop/fork-point.ts'
import { withBeside } from '../loop/with-beside.ts'
import { CACHE_LIFETIMES } from '../request/cache-lifetimes.ts'
import { viewOf } from '../transcript/view.ts'
import { grow, type ContextSetup, type ContextState } from './context-state.ts'
import { readTree } from './owner-tree.ts'
import { noteThinking } from './thinking-origin.ts'

/** The state of a stored conversation, or of a new one. */
export async function openContext(setup: ContextSetup): Promise<ContextState> {
  const { stored, ports, signal } = setup
  const session = { id: stored.id, view: viewOf(stored.entries, stored.from) }
  const forkPoint = createForkPoint({ ports })
  const reading = setup.readingOf(setup.model, setup.windowMax)
  const madeUnder: ContextState['madeUnder'] = new Map()
  return {
    session,
    path: await readTree(stored.history, session.view.leaf, (entry) => noteThinking(madeUnder, entry)),
    known: undefined,
    calls: { places: new Map(), messages: 0 },
    madeUnder,
    calibration: undefined,
    windowMax: setup.windowMax,
    watch: undefined,
    sent: undefined,
    forkPoint,
    prepared: createPreparedKeeper({
      ports,
      runFork: forkPoint.runFork,
      maySpend: (view, sizeTokens) =>
        setup.metered !== undefined &&
        mayCallBeside(besideSpending(view.log), reading.model.facts, sizeTokens),
      signal,
    }),
    news: createCompactionNews(),
  }
}

/** Takes in what was made in parallel to the requests since, and what it cost. */
export async function takeBeside(
  state: ContextState,
  { ports, metered }: ContextSetup,
): Promise<readonly string[]> {
  const notices: string[] = []
  const { prepared, session } = state
  const beside = { keepers: { prepared }, spending: { metered }, ports }
  const after = await drive(withBeside(session, beside), (event) => {
    if (event.type === 'notice') notices.push(event.text)
  })
  if (after !== session) grow(state, after)
  return notices
}

/** Knows what the cache holds from all requests of the chain. */
export function watchOf(state: ContextState): NonNullable<ContextState['watch']> {
  const { log, from } = state.session.view
  state.watch ??= cacheHistory(log, CACHE_LIFETIMES, from).watch
  return state.watch
}
