import { chooseKept, type KeptChoice, type KeptRoom } from './choose-kept.ts'
import { compactionPolicy, type CompactionPolicy } from '../policy.ts'
import { excerptsOf } from './excerpts.ts'
import { gapsBetween, isOneGap, joined, markersOf, type Gap } from './gaps.ts'
import type { Continuation } from '../summary/continuation.ts'
import { factorOf } from '../../../tokens/calibrate.ts'
import { estimateText } from '../../../tokens/estimate.ts'
import type { EntryId } from '../../../transcript/entry.ts'
import { shortId } from '../../../transcript/short-id.ts'
import { openRounds } from './open-rounds.ts'
import { isUserNode } from './tail.ts'
import { offersRecall } from '../../../transcript/recall-tool.ts'
import { blockKey, type View, type ViewNode } from '../../../transcript/view.ts'
import type { Sizing } from '../../../situation/size-of.ts'
import { fullAt, roomUntilFull } from '../../../situation/is-full.ts'

// What stays verbatim in a compaction, and how much room that leaves for the rest.

/** Share for files read again, of what is left after the kept messages and what the summary needs. */
const RESTORED_SHARE = 0.5
/** How many choices are tried, each smaller than the one before. */
const CHOICES_MAX = 8
const CHOICE_STEP = 0.85
/** If no round can stay: the shares of the usual room for the user's messages that are tried. */
const USERS_FEWER = [0.5, 0.25]
/**
 * Share of the room. If the newest round is so large that the user's messages next to it are too much, they still stay up to here: once
 * they have left they do not return, and the round leaves with the next compaction.
 */
const USERS_BEYOND = 0.85
const RESTORED_TOKENS_MAX = 25_000
/** Most of the threshold that may be taken with the summary, whatever stays. */
const LEFT_SHARE_MOST = 0.95
/**
 * If what stays leaves no room within that, the summary still gets this much, as far as a request can hold it. Without a summary everything
 * is forgotten.
 */
const SUMMARY_TOKENS_LEAST = 700
const REQUEST_SHARE_MOST = 0.99

export type CompactionSpan =
  | { readonly kind: 'whole' }
  /** The entry and what follows it is summarized; what comes before it stays. */
  | { readonly kind: 'from'; readonly entry: EntryId }
  /** What comes before the entry is summarized. */
  | { readonly kind: 'up_to'; readonly entry: EntryId }

export interface KeepWish extends Sizing {
  readonly span: CompactionSpan
  /** Only the last round stays. */
  readonly harder: boolean
  /** The user's messages stay even if that is more than the target: nobody asked for room. */
  readonly usersMayExceed?: boolean
  /** Nothing before the newest answer stays: the summary covers all of it, and nothing may come between the two. */
  readonly newestOnly?: boolean
  /** The tail begins here or earlier: what follows is not in the summary. */
  readonly tailFrom?: number
  readonly scale: number
  readonly prefixTokens: number
  readonly thresholds: { readonly auto: number; readonly blocking?: number | undefined }
  /** Most that the conversation may hold afterwards. */
  readonly targetTokens: number
  /** How much stays, and of what. Absent: as learned. */
  readonly policy?: CompactionPolicy
  /** What summary and repairs need: if they would have less, fewer messages stay. */
  readonly neededTokens?: number
}

export interface KeptPlan {
  readonly keeps: 'tail' | 'head'
  readonly span: CompactionSpan['kind']
  readonly kept: readonly ViewNode[]
  readonly copied: readonly ViewNode[]
  /** What leaves the view. */
  readonly summarised: readonly ViewNode[]
  /** What leaves, by its place: before the copy with that number, or after the last copy. */
  readonly gaps: ReadonlyMap<number, Gap>
  /** Size of kept and copied messages, and of the lines that say where something was left out. */
  readonly keptTokens: number
  /** What stays, with what the summary needs, is within the target. */
  readonly fits: boolean
  /** Room for files that are read again. */
  readonly restoredTokens: number
  /** Room for the summary with its repairs. */
  readonly summaryTokens: number
  /** For a summary that no model wrote: what it has to say is known, and more is not better. */
  readonly foldTokens: number
  /** Excerpts of what leaves, word for word; '' if there are none. */
  readonly quotes: string
}

export function keepFor(view: View, rawBefore: readonly number[], wish: KeepWish): KeptPlan {
  const factor = factorOf(wish.calibration)
  const room: KeptRoom = {
    autoTokens: fullAt(wish.thresholds),
    prefixTokens: wish.prefixTokens,
    toTokens: (raw) => raw * factor,
    rawBefore,
  }
  const rawOf = (index: number): number => (rawBefore[index + 1] ?? 0) - (rawBefore[index] ?? 0)
  const tokensOf = (indexes: Iterable<number>): number =>
    factor * [...indexes].reduce((sum, index) => sum + rawOf(index), 0)
  const needed = wish.neededTokens ?? 0
  const mostKept = Math.max(0, wish.targetTokens - wish.prefixTokens - needed)
  const hasRecall = offersRecall(view.prefix)
  const gapsOf = (stays: ReadonlySet<number>, range: Range): KeptPlan['gaps'] =>
    gapsBetween(view, stays, copiesIn(view, range), (index) => tokensOf([index]))
  const costOf = (stays: ReadonlySet<number>, range: Range): number => {
    const texts = [...markersOf(gapsOf(stays, range), hasRecall).values()]
    return tokensOf(stays) + factor * texts.reduce((sum, text) => sum + estimateText(text), 0)
  }
  const { choice, stays, range } = chooseStays(view, room, wish, { mostKept, costOf })
  const gone = indexes(0, view.nodes.length).filter((index) => !stays.has(index))
  const keptTokens = costOf(stays, range)
  const isQuoting = wish.span.kind === 'whole' && !isBare(wish)
  // Excerpts yield to everything else that stays.
  const excerptTokens = Math.min(choice.excerptTokens, Math.max(0, mostKept - keptTokens))
  const quotes = excerptsOf(view, gone, [...stays], { ...room, tokensMax: isQuoting ? excerptTokens : 0 })
  const fixed = wish.prefixTokens + keptTokens + factor * estimateText(quotes)
  const left = Math.max(0, wish.targetTokens - fixed)
  const spare = Math.max(0, left - needed)
  const restoredTokens = wish.harder ? 0 : Math.min(spare * RESTORED_SHARE, RESTORED_TOKENS_MAX * wish.scale)
  const { keeps, from, to } = range
  return {
    keeps,
    span: wish.span.kind,
    kept: view.nodes.slice(from, to),
    copied: nodesAt(
      view,
      [...stays].filter((index) => index < from || index >= to).toSorted((a, b) => a - b),
    ),
    summarised: nodesAt(view, gone),
    gaps: gapsOf(stays, range),
    keptTokens,
    fits: wish.prefixTokens + keptTokens + needed <= wish.targetTokens,
    restoredTokens,
    summaryTokens: Math.max(left - restoredTokens, leastSummary(wish, fixed)),
    foldTokens: Math.max(choice.summaryTokens, needed),
    quotes,
  }
}

/** What the message that replaces the rest says about what stays and what leaves. */
export function standingFor(
  { prefix }: View,
  { keeps, kept, gaps }: Pick<KeptPlan, 'keeps' | 'kept' | 'gaps'>,
): Pick<Continuation, 'place' | 'stays' | 'left' | 'hasRecall'> {
  const stays = isOneGap(gaps) ? (kept.length > 0 ? 'row' : 'none') : 'pieces'
  return {
    place: keeps === 'head' ? 'after' : 'before',
    stays,
    left: joined([...gaps.values()]),
    hasRecall: offersRecall(prefix),
  }
}

/** As in the transcript, where each result of a request is a message of its own. */
export function countMessages(nodes: readonly ViewNode[]): number {
  return nodes.reduce((count, { entries }) => count + entries.length, 0)
}

/** If what stays is long in any case, the summary still gets what it needs, except for what the conversation needs to continue. */
function leastSummary({ thresholds, neededTokens }: KeepWish, fixedTokens: number): number {
  if (neededTokens === undefined) return 0
  const upTo = (mostTokens: number, tokens: number): number => Math.min(tokens, mostTokens - fixedTokens)
  return Math.max(
    upTo(LEFT_SHARE_MOST * fullAt(thresholds), neededTokens),
    upTo(REQUEST_SHARE_MOST * (thresholds.blocking ?? 0), SUMMARY_TOKENS_LEAST),
  )
}

type Range = ReturnType<typeof rangeOf>

interface Stays {
  readonly choice: KeptChoice
  readonly stays: ReadonlySet<number>
  readonly range: Range
}

/** The part with copies: before a kept tail, or after a kept head. */
function copiesIn(
  { nodes }: View,
  { keeps, from, to }: Range,
): { readonly from: number; readonly to: number } {
  return keeps === 'head' ? { from: to, to: nodes.length } : { from: 0, to: from }
}

/** Chooses by the policy; if that leaves the summary too little room, by a smaller one. */
function chooseStays(
  view: View,
  room: KeptRoom,
  wish: KeepWish,
  {
    mostKept,
    costOf,
  }: {
    readonly mostKept: number
    readonly costOf: (stays: ReadonlySet<number>, range: Range) => number
  },
): Stays {
  const policy = wish.policy ?? compactionPolicy(wish.scale)
  const choose = (share: number, users: number): Stays & { readonly tokens: number } => {
    const choice = chooseKept(view, room, smaller(policy, share, users))
    const range = rangeOf(view, choice.tailFrom, wish)
    const isCopying = wish.span.kind === 'whole' && !wish.newestOnly
    const copied = isCopying ? choice.copied.filter((index) => index < range.from) : []
    const least = new Set([...copied, ...pinnedNodes(view), ...indexes(range.from, range.to)])
    const stays =
      isCopying || isBare(wish) ? least : withOpen(view, least, (all) => costOf(all, range) <= mostKept)
    return { choice, stays, range, tokens: costOf(stays, range) }
  }
  let share = isBare(wish) ? 0 : 1
  for (let i = 1; ; i++) {
    const found = choose(share, 1)
    if (found.tokens <= mostKept || wish.neededTokens === undefined) return found
    if (share === 0) break
    share = i < CHOICES_MAX ? share * Math.min(CHOICE_STEP, mostKept / found.tokens) : 0
  }
  const beyond = USERS_BEYOND * roomUntilFull(wish.thresholds, wish.prefixTokens) - wish.neededTokens
  const all = choose(0, 1)
  if (wish.usersMayExceed && all.tokens <= beyond) return all
  const least = choose(0, 0)
  if (!wish.usersMayExceed && least.tokens > mostKept) return least
  const fewer = USERS_FEWER.map((users) => choose(0, users))
  // If nothing makes it fit, the few user messages that may always stay do no harm.
  return fewer.find(({ tokens }) => tokens <= mostKept) ?? least
}

/** If only a part is compacted, what shows the current state stays too, as far as there is room. */
function withOpen(
  view: View,
  stays: ReadonlySet<number>,
  fits: (stays: ReadonlySet<number>) => boolean,
): ReadonlySet<number> {
  let all = stays
  for (const round of openRounds(view)) {
    const more = new Set([...all, ...round])
    if (more.size > all.size && fits(more)) all = more
  }
  return all
}

/** Only the newest round stays. */
function isBare({ harder, newestOnly }: KeepWish): boolean {
  return harder || newestOnly === true
}

function smaller(policy: CompactionPolicy, share: number, users: number): CompactionPolicy {
  return {
    ...policy,
    keptShare: share * policy.keptShare,
    keptTokensMin: share * policy.keptTokensMin,
    userShare: users * policy.userShare,
  }
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

function nodesAt({ nodes }: View, wanted: readonly number[]): ViewNode[] {
  return wanted.flatMap((index) => nodes[index] ?? [])
}

/** What is pinned is never removed, and neither is the other half of its round. */
function pinnedNodes({ nodes, pinned }: View): number[] {
  if (pinned.size === 0) return []
  return nodes.flatMap((node, index) => {
    if (!node.blocks.some(({ at }) => pinned.has(blockKey(at)))) return []
    if (node.answers !== undefined) return [index - 1, index]
    return nodes[index + 1]?.answers === undefined ? [index] : [index, index + 1]
  })
}

function rangeOf(view: View, start: number, { span, tailFrom }: KeepWish) {
  const end = view.nodes.length
  if (span.kind === 'from') return { keeps: 'head' as const, from: 0, to: startAt(view, span.entry) ?? end }
  const named = span.kind === 'up_to' ? startAt(view, span.entry) : undefined
  // The tail never crosses a boundary.
  const first = Math.min(named ?? start, tailFrom ?? end)
  return { keeps: 'tail' as const, from: Math.max(first, view.boundary?.nodes ?? 0), to: end }
}

/**
 * Why a span cannot begin or end at its entry; undefined if it can. What an earlier compaction kept is next to its summary, out of
 * sequence.
 */
export function spanRefusal(view: View, span: CompactionSpan): string | undefined {
  if (span.kind === 'whole' || !view.boundary) return undefined
  const at = startAt(view, span.entry)
  if (at === undefined || at >= view.boundary.nodes) return undefined
  const since = view.nodes.slice(view.boundary.nodes).find(isUserNode)?.entries[0]
  const first = since === undefined ? '' : ` (the first is ${shortId(since)})`
  const side = span.kind === 'from' ? 'begin' : 'end'
  return `The last compaction kept this message and summarised what was around it, so a span cannot ${side} there. Name a message that came after that compaction${first}, or compact everything.`
}

/** Size of the messages that the user wants to stay: everything pinned, and everything outside the span. Estimated, before calibration. */
export function asideRaw(view: View, rawBefore: readonly number[], span: CompactionSpan): number {
  const aside = new Set(pinnedNodes(view))
  const at = span.kind === 'whole' ? undefined : (startAt(view, span.entry) ?? view.nodes.length)
  const [from, to] = span.kind === 'from' ? [0, at ?? 0] : [at ?? view.nodes.length, view.nodes.length]
  for (const index of indexes(from, to)) aside.add(index)
  return [...aside].reduce((sum, index) => sum + (rawBefore[index + 1] ?? 0) - (rawBefore[index] ?? 0), 0)
}

/** The node of an entry; for results, the answer that asked for them, since a round is not split. */
function startAt({ nodes }: View, entry: EntryId): number | undefined {
  const found = nodes.findIndex((node) => node.entries.includes(entry))
  if (found < 0) return undefined
  return nodes[found]?.answers === undefined ? found : Math.max(0, found - 1)
}
