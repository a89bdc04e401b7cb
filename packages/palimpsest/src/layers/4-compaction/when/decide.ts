import type { View, ViewNode } from '../../../transcript/view.ts'
import { promptTokens } from '../../../wire/usage.ts'
import { isOpenAfter } from '../../../background/breaker.ts'
import { recordOf, type CompactionRecord } from '../../../situation/compaction-record.ts'
import { isUserNode } from '../keep/tail.ts'

// Whether to compact, and how far to go. Pure: all of it follows from the conversation and the moment.

/** Within fewer rounds a window that is full again was compacted in vain. */
export const NEAR_ROUNDS = 5
/** Share of the threshold: the provider may count slightly less than we estimated. */
const OVER_SHARE = 0.95
/** After this many in a row, compaction goes further; after one more, it stops. */
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
  /** The window fills faster than compaction empties it: another attempt would waste quota. */
  | { readonly kind: 'stop' }
  | {
      readonly kind: 'compact'
      /** Whether models may be asked: the breaker is closed, or half open. */
      readonly mayAsk: boolean
      /** Big results go to disk first, and only the last round stays verbatim. */
      readonly harder: boolean
      /** As known before the steps run: failures and outcomes are still the earlier ones. */
      readonly record: CompactionRecord
    }

export function decideCompaction(view: View, moment: CompactionMoment): CompactionDecision {
  const before = recordOf(view.boundary?.entry)
  const since = view.nodes.slice(view.boundary?.nodes ?? 0)
  const rounds = since.filter((node) => node.role === 'assistant').length
  if (rounds === 0 && moment.cause !== 'smaller-window') return { kind: 'nothing-new' }
  const near = view.boundary !== undefined && isRefilled(since, moment.thresholdTokens)
  const refills = refillsOf(before, near, moment)
  // After a refused request there is no way but to compact; without a model, since that costs nothing.
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
 * Whether the window was full again within few rounds and has been full since. Requests that were sent over the threshold, because
 * compaction had stopped or was declined, do not change that; as many rounds in a row below it do, since something has made room by then.
 */
function isRefilled(since: readonly ViewNode[], thresholdTokens: number): boolean {
  const answers = since.filter(({ role }) => role === 'assistant')
  const isOver = ({ source }: ViewNode): boolean =>
    source.usage !== undefined && promptTokens(source.usage) >= OVER_SHARE * thresholdTokens
  // The size of an answer's request was checked before the answer came, with as many answers in view as come before it.
  const first = answers.findIndex(isOver)
  const last = answers.findLastIndex(isOver)
  const roundsBelow = first < 0 ? answers.length : first
  const roundsSince = answers.length - 1 - last
  return roundsBelow < NEAR_ROUNDS && roundsSince < NEAR_ROUNDS
}

/**
 * How many times in a row the window would have been refilled if it were compacted now. The count starts again when the user compacts by
 * hand, and when the model or the window changes; undoing a compaction also undoes its count.
 */
function refillsOf(
  before: CompactionRecord | undefined,
  near: boolean,
  { cause, model, thresholdTokens }: CompactionMoment,
): number {
  if (!before || !near || cause === 'asked') return 0
  if (before.model !== model || before.thresholdTokens !== thresholdTokens) return 0
  // A pause refills nothing, so the count stays; but what has stopped does not start again by itself.
  return cause === 'idle' && before.refills < REFILLS_MAX ? before.refills : before.refills + 1
}
