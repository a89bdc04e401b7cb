import { leftBy, type LeastAnswered } from './compaction-record.ts'
import { factorOf, learnedFactor, type Calibration } from '../tokens/calibrate.ts'
import { answerTokens, countSince, isPlaceholder, type SinceAnchor } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { BoundaryEntry, Entry, PrefixEntry } from '../transcript/entry.ts'
import {
  countedTokens,
  droppedBefore,
  settle,
  tokensEnd,
  type Settled,
  type ThinkingPolicy,
} from '../transcript/settle.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import { isThinking } from '../wire/message.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import { answerSize } from './answer-size.ts'
import { leastAnswered } from './least-answered.ts'

// How large the next request will be: usage at the newest answer, minus what left since, plus what was added since. The view's running sums
// make it a subtraction, whatever the layers did in between. Right after a compaction it is what that was counted to leave, so every caller
// gets one figure, whether or not what it replaced is loaded.

export interface Sizing {
  readonly thinking: ThinkingPolicy
  readonly calibration: Calibration
}

export function sizeOf(view: View, sizing: Sizing): number {
  return sizeSinceBoundary(view, sizing) ?? sizeSinceAnswer(view, sizing)
}

/** Whether it is the provider's count: nothing was added or removed since the newest answer. */
export function isSizeExact(view: View, sizing: Sizing): boolean {
  const settled = settle(view, sizing.thinking)
  const anchor = findAnchorNode(view)
  if (!anchor || anchor.index !== view.nodes.length - 1) return false
  const { source } = anchor.node
  const raw = (settled.tokens[anchor.index + 1] ?? 0) - (settled.tokens[anchor.index] ?? 0)
  const isWhole = !isPlaceholder(anchor.usage, factorOf(sizing.calibration) * raw)
  return isWhole && source.under === settled.chains[anchor.index] && source.model === sizing.thinking.model
}

/** Undefined if something was answered since the newest compaction, or if another model counted. */
function sizeSinceBoundary(view: View, sizing: Sizing): number | undefined {
  const { entry } = view.boundary ?? {}
  const left = leftBy(entry)
  if (!entry || !left || left.model !== sizing.thinking.model || isAnsweredSince(view, entry))
    return undefined
  const grownRaw = tokensEnd(settle(view, sizing.thinking)) - left.estimate
  return Math.max(0, Math.ceil(left.tokens + factorOf(sizing.calibration) * grownRaw))
}

function isAnsweredSince({ log }: View, boundary: BoundaryEntry): boolean {
  const newest = log.findLast((entry) => entry === boundary || hasUsage(entry))
  return newest !== boundary
}

function hasUsage(entry: Entry): boolean {
  return entry.kind === 'message' && entry.usage !== undefined && promptTokens(entry.usage) > 0
}

/** From the newest usage in view; also right after a compaction, to compute what that left. */
export function sizeSinceAnswer(view: View, sizing: Sizing): number {
  const settled = settle(view, sizing.thinking)
  const anchor = findAnchorNode(view)
  if (!anchor || isStale(anchor, settled, sizing)) {
    const prefix = anchor ? undefined : prefixBilled(view, sizing)
    const factor = factorOf(sizing.calibration)
    return Math.ceil((prefix ?? factor * prefixEstimate(view)) + factor * tokensEnd(settled))
  }
  const before = countedTokens(settled, anchor.index)
  const answer = answerSize(settled, anchor, settled.texts.length, factorOf(sizing.calibration))
  const after = before + answer.raw
  const since = {
    answerRaw: answer.raw,
    addedRaw: tokensEnd(settled) - after,
    removedRaw: sentBefore(anchor.node, settled, anchor.index) - before,
  }
  const leaving = leavingFactor(view, anchor, sizing)
  const fromPrefix = countFromPrefix(view, settled, {
    anchor: { ...anchor, usage: answer.usage },
    since,
    sizing,
    leaving,
  })
  if (fromPrefix !== undefined) return fromPrefix
  const grown = countSince(answer.usage, { ...since, removedRaw: 0 }, sizing.calibration)
  return Math.max(0, Math.ceil(grown - leaving * since.removedRaw))
}

/**
 * Tokens per raw token that left. If little was seen of a model, its factor starts with the highest that is known for its vocabulary.
 * That never underestimates what is there, but overestimates what left. So what was seen counts here, and that system, tools and messages
 * together came to what was billed.
 */
function leavingFactor(view: View, { node, usage }: AnchorNode, { calibration }: Sizing): number {
  const { sentEstimate } = node.source
  const least = sentEstimate === undefined ? undefined : { tokens: promptTokens(usage), sentEstimate }
  return plausibleFactor(view, least, calibration)
}

function plausibleFactor(view: View, billed: LeastAnswered | undefined, calibration: Calibration): number {
  const sent = billed ? prefixEstimate(view) + billed.sentEstimate : 0
  const most = billed && sent > 0 ? billed.tokens / sent : Infinity
  return Math.min(factorOf(calibration), learnedFactor(calibration) ?? Infinity, most)
}

/** Size of system and tools, as the least request shows it. Undefined if none was answered under them. */
function prefixBilled(view: View, { calibration, thinking }: Sizing): number | undefined {
  const least = view.prefix?.model === thinking.model ? leastAnswered(view) : undefined
  if (!least) return undefined
  return Math.max(0, least.tokens - plausibleFactor(view, least, calibration) * least.sentEstimate)
}

interface Counted {
  readonly anchor: AnchorNode
  readonly since: SinceAnchor
  readonly sizing: Sizing
  /** Factor for what left. */
  readonly leaving: number
}

/**
 * After a compaction, what left is estimated, and is much more than what stayed. The least request that was answered under the same system
 * and tools shows how large these are, and usages show how large the kept messages between answers are. If that way leaves less to
 * estimate, it is the better count.
 */
function countFromPrefix(
  view: View,
  settled: Settled,
  { anchor, since, sizing, leaving }: Counted,
): number | undefined {
  const least = since.removedRaw > 0 ? leastAnswered(view) : undefined
  if (!least || view.prefix?.model !== sizing.thinking.model) return undefined
  const kept = findKeptFrom(view, settled, anchor)
  const beforeRaw = countedTokens(settled, kept.index)
  if (least.sentEstimate + beforeRaw >= since.removedRaw) return undefined
  // As if the answer that begins the kept part had been requested now.
  const factor = Math.min(growthFactor(least, anchor, sizing), leaving)
  const before = least.tokens - factor * least.sentEstimate + tokensBefore(view, settled, kept.index, factor)
  const after = countSince(anchor.usage, { ...since, removedRaw: 0 }, sizing.calibration)
  return Math.ceil(before + after - promptTokens(kept.usage))
}

/** Size of the nodes before `limit`: answers as they were reported, the rest estimated. */
function tokensBefore({ nodes, log }: View, settled: Settled, limit: number, factor: number): number {
  // Copies have no usage, since it would count twice. Their originals have it.
  const usages = new Map(log.flatMap((entry) => ('usage' in entry ? [[entry.id, entry.usage] as const] : [])))
  let tokens = 0
  const dropped = droppedBefore(settled, limit)
  for (const [index, node] of nodes.slice(0, limit).entries()) {
    const thought = index < dropped ? between(settled.thought, index) : 0
    const raw = between(settled.tokens, index) - thought
    const usage = usages.get(node.source.id)
    // Thinking is part of what was reported, and may not be part of what is sent.
    const isWhole = node.blocks.every(({ block, original }) => original && !isThinking(block))
    tokens += node.role === 'assistant' && usage && isWhole ? answerTokens(usage, factor * raw) : factor * raw
  }
  return tokens
}

function between(sums: readonly number[], index: number): number {
  return (sums[index + 1] ?? 0) - (sums[index] ?? 0)
}

/** By how many raw tokens a conversation must have grown before its growth says more than what we know about the model. */
const GROWN_RAW_MIN = 4_000

/** Tokens per raw token: as known for the model by now, otherwise over everything that was said since the least request. */
function growthFactor(least: LeastAnswered, { node, usage }: AnchorNode, { calibration }: Sizing): number {
  const grownRaw = (node.source.sentEstimate ?? 0) - least.sentEstimate
  if (grownRaw < GROWN_RAW_MIN || calibration.samples.length > 0) return factorOf(calibration)
  return (promptTokens(usage) - least.tokens) / grownRaw
}

/** The oldest answer from which on everything up to the anchor is as it was sent. */
function findKeptFrom({ nodes }: View, settled: Settled, anchor: AnchorNode): AnchorNode {
  let oldest = anchor
  for (let index = anchor.index - 1; index >= 0; index--) {
    const node = nodes[index]
    const { usage, sentEstimate } = node?.source ?? {}
    if (!node || node.role !== 'assistant' || !usage || promptTokens(usage) === 0) continue
    const sentBetween = (anchor.node.source.sentEstimate ?? Number.NaN) - (sentEstimate ?? Number.NaN)
    const countedBetween = countedTokens(settled, anchor.index) - countedTokens(settled, index)
    if (sentBetween !== countedBetween || node.source.model !== anchor.node.source.model) break
    oldest = { index, node, usage }
  }
  return oldest
}

const prefixEstimates = new WeakMap<PrefixEntry, number>()

/** Estimated tokens before the messages. An entry never changes, so it is estimated once. */
function prefixEstimate({ prefix }: View): number {
  if (!prefix) return 0
  const known = prefixEstimates.get(prefix) ?? estimateText(prefix.system) + estimateText(prefix.tools)
  prefixEstimates.set(prefix, known)
  return known
}

interface AnchorNode {
  readonly index: number
  readonly node: ViewNode
  readonly usage: Usage
}

/**
 * The newest answer with usage. Lines of one answer are already one node, so its results come after it. If a compaction kept it and nobody
 * knows what its request held, its usage includes what is gone: then there is no anchor.
 */
function findAnchorNode({ nodes, boundary }: View): AnchorNode | undefined {
  for (let index = nodes.length - 1; index >= 0; index--) {
    const node = nodes[index]
    if (!node?.source.usage || promptTokens(node.source.usage) === 0) continue
    const isKept = index < (boundary?.nodes ?? 0)
    return isKept && node.source.sentEstimate === undefined
      ? undefined
      : { index, node, usage: node.source.usage }
  }
  return undefined
}

/** Much left since another model counted: what remains of its figure is mostly the difference between the two. */
function isStale({ node, index }: AnchorNode, { chains }: Settled, { thinking }: Sizing): boolean {
  const { model, under, sentEstimate } = node.source
  return model !== thinking.model && sentEstimate !== undefined && under !== chains[index]
}

/**
 * What the answer's request had carried: what comes before it now if the bytes are the same, otherwise the estimate made then.
 * That may be from another version, but it includes what is gone.
 */
function sentBefore({ source }: ViewNode, settled: Settled, index: number): number {
  const now = countedTokens(settled, index)
  return source.under === settled.chains[index] ? now : (source.sentEstimate ?? now)
}
