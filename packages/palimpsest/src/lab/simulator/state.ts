import { createCache, type Cache } from '../../ledger/cache.ts'
import { hashText } from '../../wire/hash.ts'
import { findModelFacts, isClaudeId, unknownClaudeFacts, type ModelFacts } from '../../wire/model-facts.ts'
import type { Clock } from './clock.ts'
import { createCharacterCounter, createCounter, type Counter, type CountMemory } from './context/count.ts'
import { createEarlierRequests, type EarlierRequests } from './context/earlier-requests.ts'
import { createFaults, type Faults } from './faults.ts'
import { createRequestLog, type RequestLog } from './request-log.ts'
import { createScript, type Script } from './answering/script.ts'
import type { Switches } from './switches.ts'

/** A simulator's options, with all defaults filled in. */
export interface Settings {
  readonly seed: number
  /** The secret of the signatures. */
  readonly key: string
  readonly switches: Switches
  readonly cacheEdits: boolean
  /** Accepted keys; without a list, any. */
  readonly keys: readonly string[] | undefined
  /** Models that add to those of the table or replace them. */
  readonly models: readonly ModelFacts[]
  readonly logCharsMax: number
  readonly tokens: 'own' | 'characters'
}

/** Everything that a simulator remembers. The simulator owns it; `resetState` clears it. */
export interface State {
  readonly settings: Settings
  readonly clock: Clock
  script: Script
  faults: Faults
  log: RequestLog
  /** One prompt cache per workspace. */
  caches: Map<string, Cache>
  counters: Map<string, Counter>
  memory: CountMemory
  /** Earlier requests, for explanations; a bounded number of positions is kept. */
  earlier: EarlierRequests
  sequence: number
  /** Number of requests for models and wrong paths. They come at any time, so they must not change the ids of answers. */
  asides: number
}

export function createState(settings: Settings, clock: Clock): State {
  return { settings, clock, ...freshMemory(settings) }
}

/** Forgets requests, caches, script, faults and counters; the clock continues. */
export function resetState(state: State): void {
  Object.assign(state, freshMemory(state.settings))
}

function freshMemory(settings: Settings): Omit<State, 'settings' | 'clock'> {
  return {
    script: createScript(),
    faults: createFaults(),
    log: createRequestLog(settings.logCharsMax),
    caches: new Map(),
    counters: new Map(),
    memory: new Map(),
    earlier: createEarlierRequests(),
    sequence: 0,
    asides: 0,
  }
}

export function factsFor(state: State, model: string): ModelFacts | undefined {
  const own = state.settings.models.find(({ id }) => id === model)
  if (own) return own
  const known = findModelFacts(model)
  if (known?.vendor === 'anthropic') return known
  const assumes = state.settings.switches.unknownModel === 'accept'
  return assumes && isClaudeId(model) ? unknownClaudeFacts(model) : undefined
}

export function counterFor(state: State, facts: ModelFacts): Counter {
  let counter = state.counters.get(facts.id)
  if (!counter) {
    const { tokens, seed } = state.settings
    counter = tokens === 'characters' ? createCharacterCounter() : createCounter(facts, seed, state.memory)
    state.counters.set(facts.id, counter)
  }
  return counter
}

export function cacheFor(state: State, workspace: string): Cache {
  let cache = state.caches.get(workspace)
  if (!cache) {
    cache = createCache()
    state.caches.set(workspace, cache)
  }
  return cache
}

const ID_CHARS = 22

export function newId(state: State, prefix: 'msg' | 'req' | 'toolu' | 'srvtoolu'): string {
  state.sequence++
  return `${prefix}_01${hashText(`${prefix}${state.sequence}`, state.settings.seed).slice(0, ID_CHARS)}`
}

/** The id of a request that is not for an answer. */
export function newAsideId(state: State): string {
  state.asides++
  return `req_01${hashText(`aside${state.asides}`, state.settings.seed).slice(0, ID_CHARS)}`
}
