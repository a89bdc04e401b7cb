import type { Thresholds } from '../../../situation/thresholds.ts'
import type { Entry, EntryId } from '../../../transcript/entry.ts'
import type { ThinkingPolicy } from '../../../transcript/settle.ts'
import type { View } from '../../../transcript/view.ts'
import type { ModelFacts } from '../../../wire/model-facts.ts'
import type { TracedRequest } from '../traced-request.ts'

// A context-management strategy in the replay: before each request it sees the conversation so far and may append entries to it, as the
// engine does. `view` and `settle` then give what is sent, as in the product. A strategy never sees what the recording says next.

export interface Strategy {
  readonly name: string
  /** One run through one session. */
  readonly create: (settings: StrategySettings) => StrategyRun
  /** The agent can search what left the window. */
  readonly recalls?: boolean
  /** Another strategy with something changed, to show what the change brings; it gets no controls of its own. */
  readonly isVariant?: boolean
  /** It gets a window that fits everything. */
  readonly unbounded?: boolean
  /** Hears of every charged request, and changes nothing. */
  readonly watch?: (request: TracedRequest, windowTokens: number) => void
}

export interface StrategySettings {
  readonly windowTokens: number
  /** Factor for every size in the specification. */
  readonly scale: number
  /** `auto` is where the window counts as full. */
  readonly thresholds: Thresholds
  /** Ids for the entries that it makes, never those of the recording. */
  readonly newId: () => EntryId
}

/** The moment before a request. */
export interface Moment {
  readonly now: number
  /** Size of the request now, in tokens, as well as the usage reported so far lets us know. */
  readonly sizeTokens: number
  /** The part of the request that no strategy can change: system, tools, instruction files. */
  readonly hiddenTokens: number
  /** Converts a raw estimate (`ViewBlock.tokens`) to tokens. */
  readonly toTokens: (raw: number) => number
  /** Lifetime bought for the prefix so far. */
  readonly ttl: '5m' | '1h'
  /** Facts about the model of the next request. */
  readonly facts: ModelFacts
  readonly thinking: ThinkingPolicy
}

export type StrategyRun = PlanningRun | LivingRun

export interface PlanningRun {
  /** Called again after its entries were appended, until it plans nothing: each plan may be one step, based on the current view. */
  readonly before: (view: View, moment: Moment) => Actions
}

/** Runs the moment by itself, as the engine does. */
export interface LivingRun {
  /** Each yielded action is appended, and the generator receives the new view. */
  readonly live: (view: View, moment: Moment) => AsyncGenerator<Actions, void, View>
}

export interface Actions {
  /** Appended in order, before the request is built. Their `parent` is not read. */
  readonly entries: readonly Entry[]
  /** Its own model calls, about the conversation before the entries. */
  readonly calls?: readonly BackgroundCall[]
  /** It could not make room, stopped, and had the user compact by hand. */
  readonly stopped?: boolean
}

/** A model call that the strategy made, to be priced. */
export interface BackgroundCall {
  /** The layer that it counts under, such as `compaction`. */
  readonly layer: string
  /** A separate request that reads nothing of the conversation's cache. Default: a fork of the conversation. */
  readonly alone?: boolean
  /** Tokens after the shared prefix; of the whole prompt if nothing is shared. */
  readonly promptTokens: number
  readonly outputTokens: number
}

export const NO_ACTIONS: Actions = { entries: [] }
