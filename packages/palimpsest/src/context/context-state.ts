import type { CacheWatch } from '../accounts/cache-watch.ts'
import type { MeteredModel } from '../accounts/meter-model.ts'
import type { PreparedKeeper } from '../background/keepers.ts'
import type { CompactionNews } from '../engine/compaction-news.ts'
import type { ClearingWishes } from '../layers/2-micro-compaction/policy.ts'
import type { CompactionWishes } from '../layers/4-compaction/policy.ts'
import type { ForkPoint } from '../loop/fork-point.ts'
import type { KeptConversation, Ports } from '../ports.ts'
import type { CacheLifetimes } from '../request/build-request.ts'
import type { CacheWishes } from '../request/cache-lifetimes.ts'
import type { Session } from '../situation/session.ts'
import type { WindowReading } from '../situation/situation.ts'
import type { Calibration } from '../tokens/calibrate.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { Hash } from '../wire/hash.ts'
import type { BuiltOwnerRequest } from './build-owner-request.ts'
import type { OwnerHead } from './owner-prefix.ts'
import type { OwnerMark } from './breakpoint-marks.ts'
import type { KnownHistory, OwnerNode } from './owner-tree.ts'
import type { KnownCalls } from './require-history.ts'

// What a context keeps from one call to the next. It belongs to the function that opened it.

/** The owner's settings for the layers. */
export interface ContextPolicy {
  /** Which results are cleared after a pause, and when. */
  readonly clearing?: ClearingWishes | undefined
  /** How much a compaction keeps, and which model writes its summary. */
  readonly compaction?: CompactionWishes | undefined
  /** How long our breakpoints last. */
  readonly cache?: CacheWishes | undefined
}

/** Everything that a context is opened with. */
export interface ContextSetup {
  readonly stored: KeptConversation
  readonly ports: Ports
  /** For requests that name none. */
  readonly model: string
  /** For a model; never more than `windowMax`, if that is given. */
  readonly readingOf: (model: string, windowMax: number | undefined) => WindowReading
  readonly windowMax: number | undefined
  /** What our own calls cost. Absent: no model can be asked, and summaries are made without one. */
  readonly metered: MeteredModel | undefined
  readonly policy: ContextPolicy
  /** Ends what runs in parallel to the requests. */
  readonly signal: AbortSignal
}

export interface ContextState {
  session: Session
  /** From the beginning to the owner's newest message. */
  path: OwnerNode[]
  /** The history that the path was made for; undefined before the first, and while the path is being made. */
  known: KnownHistory | undefined
  readonly calls: KnownCalls
  /** What answers taught about a model's tokens. */
  calibration: { readonly model: string; readonly value: Calibration } | undefined
  /** Most tokens of a request: as given, or less if a refusal taught it. Undefined: what is sensible for the model. */
  windowMax: number | undefined
  watch: CacheWatch | undefined
  /** By the signature of thinking: what it was made under, if that is known. */
  readonly madeUnder: Map<string, Hash | undefined>
  /** The last request that was returned. */
  sent: SentRequest | undefined
  readonly forkPoint: ForkPoint
  readonly prepared: PreparedKeeper
  readonly news: CompactionNews
}

export interface SentRequest extends BuiltOwnerRequest {
  readonly head: OwnerHead
  readonly marks: readonly OwnerMark[]
  readonly lifetimes: CacheLifetimes
  readonly tokens: number
  readonly at: number
  /** The newest entry when the request was made. */
  readonly leaf: EntryId | null
}

/** The owner's newest message, or the beginning. */
export function tipOf({ path }: Pick<ContextState, 'path'>): OwnerNode | undefined {
  return path.at(-1)
}

/** What was appended belongs to the newest message. */
export function grow(state: ContextState, session: Session): void {
  state.session = session
  const tip = tipOf(state)
  if (tip) tip.leaf = session.view.leaf
}
