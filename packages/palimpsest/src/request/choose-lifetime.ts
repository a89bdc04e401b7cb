import { TTL_MS, type Ttl } from '../ledger/cache.ts'
import { findTier } from '../ledger/prices.ts'
import type { Entry, MessageEntry } from '../transcript/entry.ts'
import type { ModelFacts, PriceTier } from '../wire/model-facts.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'

// Whether an hour in the cache is worth its price. Everything written costs 2 times the input instead of 1.25; what it buys is that a
// pause of more than five minutes and less than an hour is followed by a read instead of by writing the whole conversation anew. The
// pauses of this conversation decide: what an hour would have cost and spared so far.

/** One such pause may be chance. */
const PAUSES_MIN = 3
/** It must have spared this many times what it cost: the next pauses may be others. */
const GAIN_MIN = 2
/** Requests that are looked at: habits change. */
const REQUESTS_MAX = 200

export interface LifetimeChoice {
  readonly lifetime: Ttl
  /** Between five minutes and an hour. */
  readonly pauses: number
  /** What an hour would have spared so far, and what it would have cost more. */
  readonly sparedUsd: number
  readonly extraUsd: number
}

/** For the requests from now on, by those of this log. */
export function chooseLifetime(
  log: readonly Entry[],
  { prices }: Pick<ModelFacts, 'prices'>,
): LifetimeChoice {
  const requests = newestRequests(log)
  // System and tools are bought for an hour whatever is bought for the messages.
  const head = Math.min(...requests.map(({ tokens }) => tokens))
  let [pauses, spared, extra] = [0, 0, 0]
  for (const [i, request] of requests.entries()) {
    const before = requests[i - 1]
    const tier = findTier(prices, request.tokens)
    if (!tier) continue
    const pauseMs = before ? request.startedAt - before.startedAt : Infinity
    const isSpared = before !== undefined && pauseMs > TTL_MS['5m'] && pauseMs <= TTL_MS['1h']
    if (isSpared) pauses++
    const { written, rewritten } = writtenIn(request, before, head, pauseMs)
    extra += written * (tier.write1h - tier.write5m)
    if (isSpared) spared += sparedBy(request, before, rewritten - written, tier)
  }
  const isWorth = pauses >= PAUSES_MIN && spared > GAIN_MIN * extra
  return {
    lifetime: isWorth ? '1h' : '5m',
    pauses,
    sparedUsd: spared / PRICE_TOKENS,
    extraUsd: extra / PRICE_TOKENS,
  }
}

const PRICE_TOKENS = 1_000_000

interface PastRequest {
  readonly startedAt: number
  /** Of its prompt. */
  readonly tokens: number
  readonly written: number
}

/** What is written of the messages: with everything before it still cached, and with nothing. */
function writtenIn(
  request: PastRequest,
  before: PastRequest | undefined,
  head: number,
  pauseMs: number,
): { readonly written: number; readonly rewritten: number } {
  const rewritten = Math.max(0, request.tokens - head)
  if (!before || pauseMs > TTL_MS['1h']) return { written: rewritten, rewritten }
  if (pauseMs <= TTL_MS['5m']) return { written: Math.min(request.written, rewritten), rewritten }
  return { written: Math.min(rewritten, Math.max(0, request.tokens - before.tokens)), rewritten }
}

/** Written anew at the price of five minutes, instead of read; what was cleared first would have been read too. */
function sparedBy(request: PastRequest, before: PastRequest, again: number, tier: PriceTier): number {
  const cleared = Math.max(0, before.tokens - request.tokens)
  return again * (tier.write5m - tier.read) - cleared * tier.read
}

/** Of this conversation, in order. A request begins when the last entry before its answer was written. Older ones are not looked at. */
function newestRequests(log: readonly Entry[]): PastRequest[] {
  const requests: PastRequest[] = []
  let after: string | undefined
  const answers = answersIn(log)
  for (let at = answers.length - 1; at >= 0 && requests.length <= REQUESTS_MAX; at--) {
    const i = answers[at] ?? 0
    const entry = log[i]
    if (!entry || !isAnswer(entry)) continue
    // Lines of one response: the first of them tells when it was asked for.
    if (entry.responseId !== undefined && entry.responseId === after) requests.pop()
    after = entry.responseId
    const tokens = promptTokens(entry.usage)
    const startedAt = log[i - 1]?.at ?? entry.at
    requests.push({ startedAt, tokens, written: entry.usage.cache_creation_input_tokens ?? 0 })
  }
  return requests
    .filter(({ tokens }) => tokens > 0)
    .slice(0, REQUESTS_MAX)
    .toReversed()
}

const scans = new WeakMap<readonly Entry[], { read: number; readonly answers: number[] }>()

/** Where the answers stand. A log only grows, and an undo gives a new one: so only what came since is read. */
function answersIn(log: readonly Entry[]): readonly number[] {
  const scan = scans.get(log) ?? { read: 0, answers: [] }
  scans.set(log, scan)
  for (; scan.read < log.length; scan.read++) {
    const entry = log[scan.read]
    if (entry && isAnswer(entry)) scan.answers.push(scan.read)
  }
  return scan.answers
}

function isAnswer(entry: Entry): entry is MessageEntry & { readonly usage: Usage } {
  return (
    entry.kind === 'message' &&
    entry.message.role === 'assistant' &&
    entry.sidechain !== true &&
    // Copies that a compaction keeps are not asked for again.
    entry.part === undefined &&
    entry.usage !== undefined
  )
}

/** What the request of an answer bought for the messages, as far as its usage tells. */
export function boughtLifetime({ cache_creation: created }: Usage): Ttl | undefined {
  const { ephemeral_1h_input_tokens: hour = 0, ephemeral_5m_input_tokens: minutes = 0 } = created ?? {}
  // A first request writes what stands before the messages too, which may be bought for longer than they are.
  if (minutes > 0) return '5m'
  return hour > 0 ? '1h' : undefined
}
