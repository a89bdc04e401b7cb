import { cacheHistory } from '../accounts/cache-history.ts'
import type { CacheWatch } from '../accounts/cache-watch.ts'
import { storagePolicy } from '../layers/1-tool-results/policy.ts'
import { microPolicy } from '../layers/2-micro-compaction/policy.ts'
import type { TurnSetup } from '../loop/run-turn.ts'
import { CACHE_LIFETIMES, lifetimesFor } from '../request/cache-lifetimes.ts'
import type { Session } from '../situation/session.ts'
import { situationOf, type Situation } from '../situation/situation.ts'
import type { View } from '../transcript/view.ts'
import type { Beside } from './beside.ts'
import { compactionNow } from './compaction-now.ts'
import type { ConversationSetup } from './conversation-setup.ts'

/** What is kept from turn to turn. */
export interface Kept {
  readonly maySpend: (session: Session) => boolean
  readonly beside: Beside
  /** One that has seen the whole session; without it, the whole history is laid out again. */
  readonly watch: CacheWatch | undefined
}

/** The setup of one turn: with the window and the model as they are known now. */
export function turnSetup(
  { view }: Session,
  setup: ConversationSetup,
  { maySpend, beside, watch }: Kept,
): TurnSetup & { readonly cacheWatch: CacheWatch } {
  const { ports, tools, permit, roundsMax, spending, limits, clearing } = setup
  const { window } = setup.reading()
  const situation = situationNow(view, setup)
  return {
    ports,
    situation,
    spending: { ...spending, maySpend },
    keepers: { ...beside.keepers, agents: setup.agents, forkPoint: beside.forkPoint },
    tools,
    permit,
    source: setup.source ?? 'main',
    maxTokens: setup.maxTokens(),
    lifetimes: lifetimesFor(setup.cache, view, situation.facts, ports),
    roundsMax,
    micro: microPolicy(window.scale, clearing),
    storage: storagePolicy(window.scale),
    compaction: compactionNow(setup),
    limits,
    howToCompact: setup.howToCompact?.(),
    cacheWatch: watch ?? cacheHistory(view.log, CACHE_LIFETIMES, view.from).watch,
  }
}

/** For the model that leads the conversation, or the one that will. */
export function situationNow(view: View, setup: Pick<ConversationSetup, 'prefix' | 'reading'>): Situation {
  return situationOf(view, view.prefix?.model ?? setup.prefix.model, setup.reading())
}
