import type { Thresholds } from '../../situation/thresholds.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { View } from '../../transcript/view.ts'
import type { MicroPolicy } from './policy.ts'
import { withoutEvidence } from './evidence.ts'
import { clearableResults, type ClearableResult } from './results-in-view.ts'
import { fullAt, isFull } from '../../situation/is-full.ts'
import { DENSE_CHARS_PER_TOKEN } from '../../tokens/chars-per-token.ts'

// Which stale results leave the view, and whether that pays. All decisions are here; nothing is written.

/** Margin for clocks that differ. */
const LIFETIME_SPARE_MS = 30_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Characters that a stand-in takes besides its digest, estimated before it is made. */
const STAND_IN_CHARS = 200

export const SPARES_COMPACTION = 'it spares a compaction'

export interface MicroSituation {
  readonly now: number
  /** Size of the next request. */
  readonly sizeTokens: number
  readonly thresholds: Thresholds
  /** Turns a raw estimate into tokens. */
  readonly toTokens: (raw: number) => number
  /** Tokens before the messages. */
  readonly prefixTokens: number
  /** Estimated tokens before each node, raw. */
  readonly rawBefore: readonly number[]
  /** Lifetime bought for the messages. Undefined counts as an hour. */
  readonly lifetimeMs: number | undefined
  /** Whether the source is the main conversation. Analysis and forks clear nothing. */
  readonly isMain: boolean
  readonly prices: Prices
  /** An edit now would lose the thinking of a running tool loop, so only a forced one is made. */
  readonly loses: boolean
  /** Signed compaction on the server keeps thinking that an edit would lose. */
  readonly serverCompacts: boolean
  /** The compaction that could make room instead. Absent if nothing compacts. */
  readonly compaction?: CompactionOutlook | undefined
  /** Nothing else makes room: if clearing does not, the request is refused. */
  readonly isLastResort: boolean
  /** First node that another edit changes before the same request: what follows it is written to the cache again anyway. */
  readonly brokenFrom?: number | undefined
}

/** A compaction, if it were made now. */
export interface CompactionOutlook {
  /** Size of the conversation after it. */
  readonly leftTokens: number
  /** A model would be asked for the summary; otherwise one is at hand. */
  readonly asksModel: boolean
}

/** Dollars per token, in the current tier. */
export interface Prices {
  readonly read: number
  readonly write: number
  readonly output: number
}

export interface ClearPlan {
  readonly cause: 'cold' | 'batch'
  readonly results: readonly ClearableResult[]
  readonly why: string
  readonly numbers: PlanNumbers
}

/** The terms of `F·N·r > S·(w − r) + R`: freed, ahead, after the edit, fetched again; and the price of a compaction. */
export interface PlanNumbers {
  readonly freedTokens: number
  readonly tokensAfterEdit: number
  /** Expected requests until the conversation ends or is compacted again. */
  readonly requestsAhead: number
  /** Tokens that the conversation grows by per request. */
  readonly growthTokens: number
  /** 0 if nothing compacts. */
  readonly compactionDollars: number
  readonly gainDollars: number
  readonly costDollars: number
}

export function planClearing(
  view: View,
  situation: MicroSituation,
  policy: MicroPolicy,
): ClearPlan | undefined {
  if (!situation.isMain) return undefined
  const results = withoutEvidence(view, withoutPinned(view, clearableResults(view)))
  const { acts } = policy
  const cold = acts.cold && !situation.loses ? planCold(view, results, situation, policy) : undefined
  return cold ?? (acts.batch ? planBatch(view, results, situation, policy) : undefined)
}

function withoutPinned({ pinned }: View, results: readonly ClearableResult[]): readonly ClearableResult[] {
  return pinned.size === 0 ? results : results.filter((result) => !result.pinned)
}

/** The cache has expired, so the prefix is written again anyway: make it smaller first. */
function planCold(
  view: View,
  results: readonly ClearableResult[],
  situation: MicroSituation,
  policy: MicroPolicy,
): ClearPlan | undefined {
  const lastAnswerAt = view.nodes.findLast((node) => node.role === 'assistant')?.source.at
  const idleMs = lastAnswerAt === undefined ? Number.NaN : situation.now - lastAnswerAt
  const lifetimeMs = situation.lifetimeMs ?? HOUR_MS
  // An unreadable time, or one in the future, clears nothing: the comparison is false.
  const gapMs = Math.max(lifetimeMs, (policy.clearing?.gapMinutes ?? 0) * MINUTE_MS)
  if (!(idleMs > gapMs + LIFETIME_SPARE_MS) || isClearedSince(view)) return undefined
  const isShort = idleMs <= HOUR_MS + LIFETIME_SPARE_MS
  const keep = policy.clearing?.keepResults ?? (isShort ? policy.keepAfterShortPause : policy.keepNewest)
  const old = oldResults(results, Math.max(1, keep), (result) => frees(result, situation, policy) > 0)
  if (old.length === 0) return undefined
  const numbers = numbersOf(view, old, situation, policy)
  return { cause: 'cold', results: old, why: 'the cache has expired', numbers }
}

/** Clears once per pause: what is asked again is the same request. */
function isClearedSince({ log }: View): boolean {
  const last = log.findLast((entry) => isCold(entry) || isAnswer(entry))
  return last !== undefined && isCold(last)
}

function isCold(entry: Entry): boolean {
  return entry.kind === 'edit' && entry.cause === 'cold'
}

function isAnswer(entry: Entry): boolean {
  return entry.kind === 'message' && entry.message.role === 'assistant'
}

/** The cache is warm: everything after the first cleared result is written again, which must pay. */
function planBatch(
  view: View,
  results: readonly ClearableResult[],
  situation: MicroSituation,
  policy: MicroPolicy,
): ClearPlan | undefined {
  if (results.length === 0) return undefined
  const tail = tailStart(view, situation, policy)
  const isOld = ({ block, node }: ClearableResult): boolean =>
    node < tail && situation.toTokens(block.tokens) > policy.resultTokensMin
  const old = oldResults(results, policy.keepNewest, isOld)
  return batchOf(view, old, situation, policy) ?? batchAlong(view, old, situation, policy)
}

function batchOf(
  view: View,
  old: readonly ClearableResult[],
  situation: MicroSituation,
  policy: MicroPolicy,
): ClearPlan | undefined {
  if (old.length === 0) return undefined
  const numbers = numbersOf(view, old, situation, policy)
  if (!isEnough(numbers, situation, policy)) return undefined
  if (sparesCompaction(numbers, situation, policy) && !situation.serverCompacts)
    return { cause: 'batch', results: old, why: SPARES_COMPACTION, numbers }
  const pays = policy.acts.pays && isGain(numbers)
  return pays && !situation.loses ? { cause: 'batch', results: old, why: 'it pays', numbers } : undefined
}

/**
 * The window is full and something must make room. Clearing is chosen if it makes enough room and costs no more than a compaction over the
 * requests that follow: for the rewrite now, and for what stays in view. Before the window is full, waiting is free: the same edit can
 * still be made later.
 */
function sparesCompaction(numbers: PlanNumbers, situation: MicroSituation, policy: MicroPolicy): boolean {
  const { sizeTokens, thresholds, compaction } = situation
  if (!isFull(sizeTokens, thresholds)) return false
  const left = sizeTokens - numbers.freedTokens
  if (left <= policy.targetShare * fullAt(thresholds))
    return compaction === undefined || isCheaper(numbers, compaction, situation)
  // Less room than wanted is better than a refusal.
  return situation.isLastResort && sizeTokens >= thresholds.blocking
}

/**
 * Compares the costs until the window is full again after the clearing. If a compaction leaves more room than that, the rest is worth its
 * share of the price; and a summary that is at hand now would have to be asked for again then.
 */
function isCheaper(
  { freedTokens, tokensAfterEdit, requestsAhead, growthTokens, compactionDollars }: PlanNumbers,
  { leftTokens, asksModel }: CompactionOutlook,
  situation: MicroSituation,
): boolean {
  const { sizeTokens, prices } = situation
  const compactedTokens = Math.max(1, sizeTokens - leftTokens)
  const untilFull = freedTokens / Math.max(1, growthTokens)
  const requests = Math.min(requestsAhead, untilFull)
  const goesOn = requestsAhead > untilFull
  const further = goesOn ? Math.max(0, compactedTokens - freedTokens) / compactedTokens : 0
  const forfeited = goesOn && !asksModel ? summaryPrice(situation) : 0
  const rewrite = tokensAfterEdit * (prices.write - prices.read)
  const clearing = rewrite + forfeited + requests * (sizeTokens - freedTokens) * prices.read
  const compacting = compactionDollars * (1 - further) + requests * leftTokens * prices.read
  return clearing <= compacting
}

/** What comes after another edit is written again anyway, so clearing there costs no further rewrite. */
function batchAlong(
  view: View,
  old: readonly ClearableResult[],
  situation: MicroSituation,
  policy: MicroPolicy,
): ClearPlan | undefined {
  const { brokenFrom } = situation
  if (brokenFrom === undefined) return undefined
  const results = old.filter(({ node }) => node >= brokenFrom)
  const numbers = numbersOf(view, results, situation, policy)
  if (!isEnough(numbers, situation, policy)) return undefined
  return { cause: 'batch', results, why: 'another edit breaks the prefix anyway', numbers }
}

/** An edit that frees nothing, or too little of the view, is not worth it. */
function isEnough(
  { freedTokens }: Pick<PlanNumbers, 'freedTokens'>,
  { sizeTokens }: MicroSituation,
  { freedShareMin }: MicroPolicy,
): boolean {
  return freedTokens > 0 && freedTokens >= freedShareMin * sizeTokens
}

/** Results that a request has carried and that are worth clearing, without the newest `keep`. */
function oldResults(
  results: readonly ClearableResult[],
  keep: number,
  isWorth: (result: ClearableResult) => boolean,
): readonly ClearableResult[] {
  const old: ClearableResult[] = []
  for (let i = 0; i < results.length - keep; i++) {
    const result = results[i]
    if (result?.sent && isWorth(result)) old.push(result)
  }
  return old
}

/** The first node of the newest part of the window, which stays as it is. */
export function tailStart(
  view: View,
  { rawBefore, toTokens, thresholds }: MicroSituation,
  { keepShare }: MicroPolicy,
): number {
  const end = rawBefore[view.nodes.length] ?? 0
  const isTail = (node: number): boolean =>
    toTokens(end - (rawBefore[node] ?? end)) <= keepShare * fullAt(thresholds)
  // The sums never decrease, so each step can skip half of what is left.
  let [low, high] = [0, rawBefore.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isTail(middle)) high = middle
    else low = middle + 1
  }
  return low === rawBefore.length ? view.nodes.length : Math.max(0, low - 1)
}

function frees({ block }: ClearableResult, situation: MicroSituation, policy: MicroPolicy): number {
  const standIn = (STAND_IN_CHARS + policy.digestChars) / DENSE_CHARS_PER_TOKEN
  return situation.toTokens(block.tokens) - Math.min(standIn, situation.toTokens(block.tokens) / 2)
}

function numbersOf(
  view: View,
  results: readonly ClearableResult[],
  situation: MicroSituation,
  policy: MicroPolicy,
): PlanNumbers {
  const freedTokens = Math.round(results.reduce((sum, result) => sum + frees(result, situation, policy), 0))
  const numbers = sumOf(view, { freedTokens, firstNode: results[0]?.node ?? 0 }, situation, policy)
  return { ...numbers, costDollars: numbers.costDollars + refetchPrice(results, situation, policy) }
}

/** The numbers for content that leaves the view and is not fetched again. */
function sumOf(
  view: View,
  { freedTokens, firstNode }: { readonly freedTokens: number; readonly firstNode: number },
  situation: MicroSituation,
  policy: MicroPolicy,
): PlanNumbers {
  const { sizeTokens, toTokens, rawBefore, prices } = situation
  const after = (rawBefore[view.nodes.length] ?? 0) - (rawBefore[firstNode] ?? 0)
  const tokensAfterEdit = Math.max(0, Math.round(toTokens(after)) - freedTokens)
  const requests = requestsSinceBoundary(view)
  const requestsAhead = expectedRequests(view, requests, policy)
  // What earlier edits removed counts as growth too.
  const added = sizeTokens - situation.prefixTokens + freedSinceBoundary(view)
  const growth = requests > 0 ? added / requests : 0
  const auto = fullAt(situation.thresholds)
  // What is freed counts until the window is full: then the same edit, or a compaction, would remove it anyway. So clearing early spares no
  // compaction that clearing then would not spare.
  const untilFull = growth > 0 ? Math.max(0, auto - sizeTokens) / growth : requestsAhead
  return {
    freedTokens,
    tokensAfterEdit,
    requestsAhead,
    growthTokens: Math.round(growth),
    compactionDollars: compactionPrice(situation),
    gainDollars: freedTokens * Math.min(requestsAhead, untilFull) * prices.read,
    costDollars: tokensAfterEdit * (prices.write - prices.read),
  }
}

/** The numbers for removing content that is no longer of use, if that pays; otherwise undefined. */
export function planUseless(
  view: View,
  useless: { readonly freedTokens: number; readonly firstNode: number },
  situation: MicroSituation,
  policy: MicroPolicy,
): PlanNumbers | undefined {
  if (!policy.acts.pays || situation.loses) return undefined
  const numbers = sumOf(view, useless, situation, policy)
  const pays = isEnough(numbers, situation, policy) && isGain(numbers)
  return pays ? numbers : undefined
}

/** How long a conversation continues is a guess, so the gain must be this many times the cost. */
const GAIN_MIN = 2

function isGain({ gainDollars, costDollars }: PlanNumbers): boolean {
  return gainDollars > GAIN_MIN * costDollars
}

/** Some of it will be requested again: one more request each, and the result is written once more. */
function refetchPrice(
  results: readonly ClearableResult[],
  { sizeTokens, toTokens, prices }: MicroSituation,
  { refetchShare }: MicroPolicy,
): number {
  const tokens = toTokens(results.reduce((sum, { block }) => sum + block.tokens, 0))
  const request = sizeTokens * prices.read + CALL_TOKENS * prices.output
  return refetchShare * (tokens * prices.write + results.length * request)
}

/** Tokens of an answer that only calls a tool. */
const CALL_TOKENS = 150

function requestsSinceBoundary(view: View): number {
  const from = view.boundary?.nodes ?? 0
  return view.nodes.slice(from).filter((node) => node.role === 'assistant').length
}

/** Tokens removed since the last boundary by edits in force. */
function freedSinceBoundary({ log }: View): number {
  const voided = new Set<string>()
  let freed = 0
  for (let i = log.length - 1; i >= 0; i--) {
    const entry = log[i]
    if (!entry || voided.has(entry.id)) continue
    if (entry.kind === 'boundary') break
    if (entry.kind === 'void') voided.add(entry.target)
    if (entry.kind === 'edit') freed += entry.freedTokens
  }
  return freed
}

/** As many as there were, up to a maximum; half of that after an answer that ended a turn, since it may have been the last. */
function expectedRequests(view: View, requests: number, policy: MicroPolicy): number {
  const ahead = Math.min(requests, policy.requestsAheadMax)
  return endsTurn(view) ? Math.floor(ahead / 2) : ahead
}

function endsTurn(view: View): boolean {
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  return newest >= 0 && view.nodes[newest + 1]?.answers === undefined
}

/** Median size of a summary in recorded compactions, in tokens. */
const SUMMARY_TOKENS = 4_000

/** What is left is written to the cache again; and unless a summary is at hand, one is asked for. */
function compactionPrice(situation: MicroSituation): number {
  const { prefixTokens, prices, compaction } = situation
  if (!compaction) return 0
  const asked = compaction.asksModel ? summaryPrice(situation) : 0
  return asked + Math.max(0, compaction.leftTokens - prefixTokens) * prices.write
}

/** Everything is read once more, and a summary is written. */
function summaryPrice({ sizeTokens, prices }: MicroSituation): number {
  return sizeTokens * prices.read + SUMMARY_TOKENS * prices.output
}
