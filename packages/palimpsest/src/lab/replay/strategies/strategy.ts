import type { Thresholds } from '../../../situation/thresholds.ts'
import type { Entry, EntryId } from '../../../transcript/entry.ts'
import type { ThinkingPolicy } from '../../../transcript/settle.ts'
import type { View } from '../../../transcript/view.ts'
import type { ModelFacts } from '../../../wire/model-facts.ts'
import type { TracedRequest } from '../traced-request.ts'

// What a context-management strategy is to the replay: before each request it sees the conversation so far and may append entries to
// it, as the engine does. What is sent is then `view` and `settle`, as in the product. It never sees what the recording says next.

export interface Strategy {
  readonly name: string
  /** One run through one session. */
  readonly create: (settings: StrategySettings) => StrategyRun
  /** Its agent can search what left the window. */
  readonly recalls?: boolean
  /** Another one with something changed, to tell what that brings: it gets no controls of its own. */
  readonly isVariant?: boolean
  /** It is given a window that fits everything. */
  readonly unbounded?: boolean
  /** Told of every charged request. It changes nothing. */
  readonly watch?: (request: TracedRequest, windowTokens: number) => void
}

export interface StrategySettings {
  readonly windowTokens: number
  /** Every size of the specification is multiplied by it. */
  readonly scale: number
  /** `auto` is where the window counts as full. */
  readonly thresholds: Thresholds
  /** Ids for the entries it makes; never those of the recording. */
  readonly newId: () => EntryId
}

/** The moment before a request. */
export interface Moment {
  readonly now: number
  /** The request as it stands, in tokens, as far as usage reported so far lets one know. */
  readonly sizeTokens: number
  /** The part of it that no strategy can change: system, tools, instruction files. */
  readonly hiddenTokens: number
  /** Tokens of a raw estimate (`ViewBlock.tokens`). */
  readonly toTokens: (raw: number) => number
  /** Lifetime bought for the prefix so far. */
  readonly ttl: '5m' | '1h'
  /** Of the model about to be asked. */
  readonly facts: ModelFacts
  readonly thinking: ThinkingPolicy
}

export type StrategyRun = PlanningRun | LivingRun

export interface PlanningRun {
  /** Asked again after its entries were appended, until it plans nothing: each plan may be one step, made on the view as it is. */
  readonly before: (view: View, moment: Moment) => Actions
}

/** Lives through the moment by itself, as the engine does. */
export interface LivingRun {
  /** Step by step: what it says is appended, and it is handed the view as it then is. */
  readonly live: (view: View, moment: Moment) => AsyncGenerator<Actions, void, View>
}

export interface Actions {
  /** Appended in order, before the request is built. Their `parent` is not read. */
  readonly entries: readonly Entry[]
  /** Model calls of its own, about the conversation as it stood before the entries. */
  readonly calls?: readonly BackgroundCall[]
  /** It could not make room, stopped, and had the user compact by hand. */
  readonly stopped?: boolean
}

/** A model call that the strategy made, to be priced. */
export interface BackgroundCall {
  /** The layer it is booked under, e.g. `compaction`. */
  readonly layer: string
  /** A request of its own, that reads nothing of the conversation's cache. Left out: a fork of the conversation. */
  readonly alone?: boolean
  /** Tokens behind the shared prefix; of the whole prompt where nothing is shared. */
  readonly promptTokens: number
  readonly outputTokens: number
}

export const NO_ACTIONS: Actions = { entries: [] }
