import { contextUsage, promptTokens, type Usage } from '../wire/usage.ts'
import { factorOf, observe, type Calibration } from './calibrate.ts'

// size = usage at the anchor − what was removed since + what was added since. One formula for every change of the view. Estimates are
// summed raw and scaled once, so that a count costs only what is new since the anchor.

/** Raw estimates of what happened to the view since the request that the anchor's usage belongs to. */
export interface SinceAnchor {
  /** The blocks of the anchor's own response, which its output tokens include. */
  readonly answerRaw: number
  readonly addedRaw: number
  readonly removedRaw: number
}

/** A message of the view, for counting. Messages of one response share its id. */
export interface CountedMessage {
  /** Sum over its blocks, before calibration. */
  readonly rawTokens: number
  readonly responseId?: string
  readonly usage?: Usage
}

export interface Anchor {
  /** The oldest message of the newest response that has a usage. */
  readonly index: number
  readonly responseId?: string
  readonly usage: Usage
}

/** Older logs have the output count of a stream's first event: a handful of tokens, whatever followed. */
const PLACEHOLDER_TOKENS_MAX = 32
const PLACEHOLDER_SHARE_MAX = 0.5

/** Tokens of the conversation that grew from the anchor's request. */
export function countSince(usage: Usage, since: SinceAnchor, calibration: Calibration): number {
  const factor = factorOf(calibration)
  const answer = answerTokens(usage, factor * since.answerRaw)
  return Math.max(0, Math.ceil(promptTokens(usage) + answer + factor * (since.addedRaw - since.removedRaw)))
}

/** Tokens of a conversation as it is now. Without any usage yet, system prompt and tools (`prefixRaw`) are estimated too. */
export function countTokens(
  messages: readonly CountedMessage[],
  { prefixRaw, removedRaw }: { readonly prefixRaw: number; readonly removedRaw: number },
  calibration: Calibration,
): number {
  const anchor = findAnchor(messages)
  if (anchor === undefined) return Math.ceil(factorOf(calibration) * (prefixRaw + sumRaw(messages)))
  const tail = messages.slice(anchor.index)
  const answerRaw = sumRaw(tail.filter((message, index) => index === 0 || isOwn(message, anchor)))
  return countSince(anchor.usage, { answerRaw, addedRaw: sumRaw(tail) - answerRaw, removedRaw }, calibration)
}

/**
 * The newest usage, at the *oldest* message of its response. In a log, parallel calls are several messages with results between them, and
 * those results came after the usage was taken. A usage without prompt tokens belongs to an answer that was broken off.
 */
export function findAnchor(messages: readonly CountedMessage[]): Anchor | undefined {
  const newest = messages.findLastIndex(({ usage }) => usage !== undefined && promptTokens(usage) > 0)
  const found = messages[newest]
  if (found?.usage === undefined) return undefined
  const { usage, responseId } = found
  if (responseId === undefined) return { index: newest, usage }
  let index = newest
  for (let i = newest - 1; i >= 0; i--) {
    const id = messages[i]?.responseId
    if (id === responseId) index = i
    else if (id !== undefined) break
  }
  return { index, responseId, usage }
}

/**
 * The calibration after the next usage: compares the prompt's growth with the estimate. If something was removed in between, nothing is
 * learned, since the growth is then a difference of two estimates.
 */
export function learnFromUsage(
  calibration: Calibration,
  previous: Usage,
  since: SinceAnchor,
  next: Usage,
): Calibration {
  if (since.removedRaw !== 0) return calibration
  const growth = promptTokens(next) - promptTokens(previous)
  const reported = contextUsage(previous).output_tokens
  return isPlaceholder(previous, factorOf(calibration) * since.answerRaw)
    ? observe(calibration, { actualTokens: growth, rawTokens: since.answerRaw + since.addedRaw })
    : observe(calibration, { actualTokens: growth - reported, rawTokens: since.addedRaw })
}

/** Tokens of an answer in the next prompt: the reported number, or the estimate if the report came too early. */
export function answerTokens(usage: Usage, estimatedTokens: number): number {
  return isPlaceholder(usage, estimatedTokens) ? estimatedTokens : contextUsage(usage).output_tokens
}

/** Whether the reported output cannot be that of the whole answer, because it was taken while the answer was still streaming. */
export function isPlaceholder(usage: Usage, estimatedTokens: number): boolean {
  const { output_tokens: reported } = contextUsage(usage)
  return reported <= PLACEHOLDER_TOKENS_MAX && reported < PLACEHOLDER_SHARE_MAX * estimatedTokens
}

const BYTES_PER_TEXT_TOKEN = 4
const BYTES_PER_JSON_TOKEN = 2
const TOKENS_PER_MEDIUM = 2_000
/** Too much means an early compaction; too little, a refused request. */
const ROUGH_PADDING = 4 / 3

/** Before anything is known about a model: bytes by kind, padded. */
export function roughTokens(size: {
  readonly textBytes: number
  readonly jsonBytes: number
  readonly media: number
}): number {
  const plain =
    size.textBytes / BYTES_PER_TEXT_TOKEN +
    size.jsonBytes / BYTES_PER_JSON_TOKEN +
    size.media * TOKENS_PER_MEDIUM
  return Math.ceil(plain * ROUGH_PADDING)
}

function isOwn(message: CountedMessage, anchor: Anchor): boolean {
  return anchor.responseId !== undefined && message.responseId === anchor.responseId
}

function sumRaw(messages: readonly CountedMessage[]): number {
  return messages.reduce((sum, message) => sum + message.rawTokens, 0)
}
