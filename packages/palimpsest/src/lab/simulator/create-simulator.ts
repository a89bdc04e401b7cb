import type { ModelFacts } from '../../wire/model-facts.ts'
import { answer, type Answer } from './answering/answer.ts'
import { createRealClock, createVirtualClock } from './clock.ts'
import { addFaults, type FaultRule } from './faults.ts'
import { handle } from './handle.ts'
import type { HeaderRecord } from './headers.ts'
import { loggedRequests, statsOf, type LoggedRequest, type Stats } from './request-log.ts'
import { addSteps, type ScriptStep } from './answering/script.ts'
import { createState, resetState, type State } from './state.ts'
import { DEFAULT_SWITCHES, type Switches } from './switches.ts'

/** Above this many characters in total, bodies of old requests are dropped; what requests share counts once. */
const LOG_CHARS_MAX = 512 * 1024 * 1024

export interface SimulatorOptions {
  /** A virtual clock stands still until it is advanced. */
  readonly clock?: 'real' | 'virtual' | { readonly kind: 'virtual'; readonly start: number }
  /** Determines noise and ids. */
  readonly seed?: number
  readonly switches?: Partial<Omit<Switches, 'betaGates'>> & {
    readonly betaGates?: Partial<Switches['betaGates']>
  }
  readonly script?: readonly ScriptStep[]
  readonly faults?: readonly FaultRule[]
  /** Capabilities that no public API has. */
  readonly capabilities?: readonly 'cache_edits'[]
  /** Accepted API keys; without a list, any. Each key is its own account and, by default, its own workspace. */
  readonly keys?: readonly string[]
  /** Models that add to those of the table or replace them. */
  readonly models?: readonly ModelFacts[]
  /** The secret of the signatures. */
  readonly key?: string
  readonly logCharsMax?: number
  /** `characters` counts one token per character, so that figures can be computed by hand. */
  readonly tokens?: 'own' | 'characters'
}

export interface Simulator {
  readonly fetch: (request: Request) => Promise<Response>
  /** The same judgment and answer without HTTP. */
  readonly answer: (body: string | object, headers?: HeaderRecord) => Answer
  readonly requests: () => readonly LoggedRequest[]
  readonly stats: () => Stats
  readonly addSteps: (steps: readonly ScriptStep[]) => void
  readonly addFaults: (rules: readonly FaultRule[]) => void
  /** Returns false on a real clock. */
  readonly advance: (ms: number) => boolean
  readonly reset: () => void
}

export function createSimulator(options: SimulatorOptions = {}): Simulator {
  const state = stateFor(options)
  addSteps(state.script, options.script ?? [])
  addFaults(state.faults, options.faults ?? [])
  return {
    fetch: (request) => handle(state, request),
    answer: (body, headers) => answer(state, body, headers),
    requests: () => loggedRequests(state.log),
    stats: () => statsOf(state.log),
    addSteps: (steps) => {
      addSteps(state.script, steps)
    },
    addFaults: (rules) => {
      addFaults(state.faults, rules)
    },
    advance: (ms) => state.clock.advance(ms),
    reset: () => {
      resetState(state)
    },
  }
}

function stateFor(options: SimulatorOptions): State {
  const seed = options.seed ?? 0
  const { betaGates, ...switches } = options.switches ?? {}
  const settings = {
    seed,
    key: options.key ?? `simulator-key-${seed}`,
    switches: {
      ...DEFAULT_SWITCHES,
      ...switches,
      betaGates: { ...DEFAULT_SWITCHES.betaGates, ...betaGates },
    },
    cacheEdits: options.capabilities?.includes('cache_edits') ?? false,
    keys: options.keys,
    models: options.models ?? [],
    logCharsMax: options.logCharsMax ?? LOG_CHARS_MAX,
    tokens: options.tokens ?? 'own',
  }
  return createState(settings, clockFor(options.clock ?? 'real'))
}

function clockFor(clock: NonNullable<SimulatorOptions['clock']>): State['clock'] {
  if (clock === 'real') return createRealClock()
  return createVirtualClock(clock === 'virtual' ? 0 : clock.start)
}
