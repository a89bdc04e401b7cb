import type { NamedBody } from '../../situation/session.ts'
import type { CompactionCause } from './when/decide.ts'
import type { CompactionPolicy, CompactionWishes } from './policy.ts'
import type { AskModel, Clock, CompactionHost, Ports, RunFork } from '../../ports.ts'
import type { Thresholds } from '../../situation/thresholds.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'
import type { View } from '../../transcript/view.ts'
import type { CompactionSpan } from './keep/keep-for.ts'
import type { Sizing } from '../../situation/size-of.ts'

export interface CompactWish {
  readonly cause: CompactionCause
  readonly span: CompactionSpan
  readonly instructions?: string | undefined
}

export interface CompactSetup extends Sizing {
  readonly thresholds: Thresholds
  /** Factor for sizes, below 1 in less than a full-size window. */
  readonly scale: number
  readonly facts: ModelFacts
  readonly source: string
  readonly wishes?: CompactionWishes | undefined
  /** Replaces the policy that scale and style give. */
  readonly policy?: CompactionPolicy | undefined
  /** Notes may be the summary. */
  readonly notesTemplate?: string | undefined
  /** The summary names it as the place of the whole conversation. */
  readonly transcriptPath?: string | undefined
  /** Size of the next request, and of what comes before its messages. */
  readonly sizeTokens: number
  readonly prefixTokens: number
}

/** A requested compaction, and what is known for it. */
export interface CompactJob {
  readonly wish: CompactWish
  readonly setup: CompactSetup
}

export type CompactResult =
  | {
      readonly kind: 'compacted'
      readonly bodies: readonly NamedBody[]
      readonly summary: string
      readonly path: string
    }
  /** Nothing was done; `why` says the reason. `spent`: what it cost to find out. */
  | { readonly kind: 'refused'; readonly why: string; readonly spent?: readonly NamedBody[] }
  /** Automatic compaction no longer helps. */
  | { readonly kind: 'stopped'; readonly why: string }

export interface SummaryPorts extends Pick<Ports, 'flags' | 'trace'> {
  readonly clock: Clock
  /** Absent: no model can be asked, and the summary is the one that needs none. */
  readonly askModel?: AskModel | undefined
  readonly runFork?: RunFork | undefined
}

/** A text that can be the summary, and the first node that it does not cover. */
export interface TextAtHand {
  readonly text: string
  readonly rest: number
}

export type AtHandSetup = Pick<CompactSetup, 'notesTemplate' | 'scale' | 'transcriptPath'>

/** Where a summary can come from: a text at hand, or a model. */
export type SummarySource =
  | {
      readonly path: 'notes' | 'prepared'
      readonly find: (view: View, setup: AtHandSetup) => TextAtHand | undefined
    }
  | { readonly path: 'server' | 'fork' | 'plain' }

export interface CompactPorts extends SummaryPorts, Pick<Ports, 'newId'> {
  readonly host: CompactionHost
  /** In the order in which they are tried. After them comes the summary that needs no model, which cannot fail. */
  readonly sources: readonly SummarySource[]
}

/** Where the summary comes from: the provider, notes, one prepared earlier, a fork of the conversation, a request of its own, no model. */
export type CompactionPath = 'server' | 'notes' | 'prepared' | 'fork' | 'plain' | 'fold'

export type CompactEvent =
  | { readonly type: 'compaction-start'; readonly cause: CompactionCause }
  | { readonly type: 'compaction-path'; readonly path: CompactionPath }
  | { readonly type: 'keep-alive' }
  | { readonly type: 'notice'; readonly text: string }
