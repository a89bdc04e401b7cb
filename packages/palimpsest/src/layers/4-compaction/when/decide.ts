import type { View, ViewNode } from '../../../transcript/view.ts'
import { promptTokens } from '../../../wire/usage.ts'
import { isOpenAfter } from '../../../background/breaker.ts'
import { recordOf, type CompactionRecord } from '../../../situation/compaction-record.ts'
import { isUserNode } from '../keep/tail.ts'

// Whether to compact, and how far to go. Pure: all of it follows from the conversation and the moment.

/** A window that is full again within fewer rounds was compacted for nothing. */
export const NEAR_ROUNDS = 5
/** Of the threshold: what we had taken for as much may have been counted as a little less. */
const OVER_SHARE = 0.95
/** So many in a row, and harder means are used; one more, and it stops. */
export const REFILLS_MAX = 3

export type CompactionCause = 'threshold' | 'overflow' | 'blocking' | 'asked' | 'smaller-window' | 'idle'

export interface CompactionMoment {
  readonly now: number
  readonly cause: CompactionCause
  readonly source: string
  readonly model: string
  readonly thresholdTokens: number
}

export type CompactionDecision =
  /** Nothing has been said since the last boundary. */
  | { readonly kind: 'nothing-new' }
  /** The window fills faster than compaction empties it: asking again would burn quota for nothing. */
  | { readonly kind: 'stop' }
  | {
      readonly kind: 'compact'
      /** Whether models may be asked: the breaker is closed, or half open. */
      readonly mayAsk: boolean
      /** Big results go to disk first, and only the last round stays verbatim. */
      readonly harder: boolean
      /** As known before the steps ran: failures and outcomes are still those of before. */
      readonly record: CompactionRecord
    }

export function decideCompaction(view: View, moment: CompactionMoment): CompactionDecision {
  const before = recordOf(view.boundary?.entry)
  const since = view.nodes.slice(view.boundary?.nodes ?? 0)
  const rounds = since.filter((node) => node.role === 'assistant').length
  if (rounds === 0 && moment.cause !== 'smaller-window') return { kind: 'nothing-new' }
  const near = view.boundary !== undefined && isRefilled(since, moment.thresholdTokens)
  const refills = refillsOf(before, near, moment)
  // A refused request leaves no other way than to compact: then without a model, which costs nothing that could be burnt.
  const isSpent = refills > REFILLS_MAX
  if (isSpent && moment.cause !== 'overflow') return { kind: 'stop' }
  const users = since.filter(isUserNode)
  return {
    kind: 'compact',
    mayAsk: !isSpent && (moment.cause === 'asked' || !isOpenAfter(before, moment)),
    harder: refills >= REFILLS_MAX,
    record: {
      cause: moment.cause,
      source: moment.source,
      model: moment.model,
      thresholdTokens: moment.thresholdTokens,
      near,
      turnsSince: view.boundary ? users.length : -1,
      turn: users.at(-1)?.source.id ?? before?.turn ?? null,
      previousTurn: before?.turn ?? null,
      refills,
      failures: before?.failures ?? 0,
      triedAt: before?.triedAt ?? 0,
      outcomes: [],
    },
  }
}

/**
 * Whether the window was full again within few rounds, and has been since. Requests that were sent over the threshold all the same, because
 * compaction had stopped or was declined, do not make it less so; as many rounds in a row below it do: then something had made room.
 */
function isRefilled(since: readonly ViewNode[], thresholdTokens: number): boolean {
  const answers = since.filter(({ role }) => role === 'assistant')
  const isOver = ({ source }: ViewNode): boolean =>
    source.usage !== undefined && promptTokens(source.usage) >= OVER_SHARE * thresholdTokens
  // What an answer's request held was checked before it: behind as many answers as stand before that one.
  const first = answers.findIndex(isOver)
  const last = answers.findLastIndex(isOver)
  const roundsBelow = first < 0 ? answers.length : first
  const roundsSince = answers.length - 1 - last
  return roundsBelow < NEAR_ROUNDS && roundsSince < NEAR_ROUNDS
}

/**
 * How often in a row the window was refilled, should it be compacted now. It begins anew where the user compacts by hand, and where
 * another model or another window makes it another question; an undone compaction takes its count with it.
 */
function refillsOf(
  before: CompactionRecord | undefined,
  near: boolean,
  { cause, model, thresholdTokens }: CompactionMoment,
): number {
  if (!before || !near || cause === 'asked') return 0
  if (before.model !== model || before.thresholdTokens !== thresholdTokens) return 0
  // In a pause nothing was refilled; but what had stopped does not begin again by itself.
  return cause === 'idle' && before.refills < REFILLS_MAX ? before.refills : before.refills + 1
}
