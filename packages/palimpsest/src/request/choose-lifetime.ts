import { TTL_MS, type Ttl } from '../ledger/cache.ts'
import { findTier } from '../ledger/prices.ts'
import type { Entry, MessageEntry } from '../transcript/entry.ts'
import type { ModelFacts, PriceTier } from '../wire/model-facts.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'

// Whether an hour in the cache is worth its price. Everything written costs 2 times the input instead of 1.25; in return, a pause of more
// than five minutes and less than an hour is followed by a read instead of writing the whole conversation again. The pauses of this
// conversation decide: what an hour would have cost and saved so far.

/** Fewer such pauses may be chance. */
const PAUSES_MIN = 3
/** An hour must have saved this many times what it cost, because the next pauses may differ. */
const GAIN_MIN = 2
/** How many requests count: habits change. */
const REQUESTS_MAX = 200

export interface LifetimeChoice {
  readonly lifetime: Ttl
  /** Pauses between five minutes and an hour. */
  readonly pauses: number
  /** What an hour would have saved so far, and what it would have cost in addition. */
  readonly sparedUsd: number
  readonly extraUsd: number
}

/** For the requests from now on, judged by those of this log. */
export function chooseLifetime(
  log: readonly Entry[],
  { prices }: Pick<ModelFacts, 'prices'>,
): LifetimeChoice {
  const requests = requestsIn(log)
  const first = Math.max(0, requests.length - REQUESTS_MAX)
  const head = leastTokens(requests, first)
  let pauses = 0
  let spared = 0
  let extra = 0
  let before: PastRequest | undefined
  for (let i = first; i < requests.length; i++) {
    const request = requests[i]
    const tier = request && findTier(prices, request.tokens)
    if (!tier) continue
    const pauseMs = before ? request.startedAt - before.startedAt : Infinity
    const isSpared = before !== undefined && pauseMs > TTL_MS['5m'] && pauseMs <= TTL_MS['1h']
    if (isSpared) pauses++
    const rewritten = Math.max(0, request.tokens - head)
    const written = writtenIn(request, before, rewritten, pauseMs)
    extra += written * (tier.write1h - tier.write5m)
    if (isSpared && before) spared += sparedBy(request, before, rewritten - written, tier)
    before = request
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
  /** Tokens of its prompt. */
  readonly tokens: number
  readonly written: number
}

/** System and tools, estimated as the smallest prompt; they are bought for an hour whatever is bought for the messages. */
function leastTokens(requests: readonly PastRequest[], first: number): number {
  let least = Infinity
  for (let i = first; i < requests.length; i++) least = Math.min(least, requests[i]?.tokens ?? least)
  return least
}

/** How much of the messages is written if everything before is still cached; `rewritten` is all of them. */
function writtenIn(
  request: PastRequest,
  before: PastRequest | undefined,
  rewritten: number,
  pauseMs: number,
): number {
  if (!before || pauseMs > TTL_MS['1h']) return rewritten
  if (pauseMs <= TTL_MS['5m']) return Math.min(request.written, rewritten)
  return Math.min(rewritten, Math.max(0, request.tokens - before.tokens))
}

/** What is read instead of written again at the price of five minutes; what was cleared first would have been read too. */
function sparedBy(request: PastRequest, before: PastRequest, again: number, tier: PriceTier): number {
  const cleared = Math.max(0, before.tokens - request.tokens)
  return again * (tier.write5m - tier.read) - cleared * tier.read
}

interface Scan {
  read: number
  /** The response of the newest answer. */
  response: string | undefined
  readonly requests: PastRequest[]
}

const scans = new WeakMap<readonly Entry[], Scan>()

/**
 * The requests of this conversation, in order. A request begins when the last entry before its answer was written. A log only grows, and an
 * undo creates a new one, so only new entries are read.
 */
function requestsIn(log: readonly Entry[]): readonly PastRequest[] {
  const scan = scans.get(log) ?? { read: 0, response: undefined, requests: [] }
  scans.set(log, scan)
  for (; scan.read < log.length; scan.read++) {
    const entry = log[scan.read]
    if (!entry || !isAnswer(entry)) continue
    // Lines of one response: the first shows when it was requested.
    const isSame = entry.responseId !== undefined && entry.responseId === scan.response
    scan.response = entry.responseId
    const tokens = promptTokens(entry.usage)
    if (isSame || tokens === 0) continue
    const startedAt = log[scan.read - 1]?.at ?? entry.at
    scan.requests.push({ startedAt, tokens, written: entry.usage.cache_creation_input_tokens ?? 0 })
  }
  return scan.requests
}

function isAnswer(entry: Entry): entry is MessageEntry & { readonly usage: Usage } {
  return (
    entry.kind === 'message' &&
    entry.message.role === 'assistant' &&
    entry.sidechain !== true &&
    // Copies that a compaction keeps were not requested again.
    entry.part === undefined &&
    entry.usage !== undefined
  )
}

/** What the request of an answer bought for the messages, as far as its usage shows. */
export function boughtLifetime({ cache_creation: created }: Usage): Ttl | undefined {
  const { ephemeral_1h_input_tokens: hour = 0, ephemeral_5m_input_tokens: minutes = 0 } = created ?? {}
  // A first request also writes what comes before the messages, which may be bought for longer.
  if (minutes > 0) return '5m'
  return hour > 0 ? '1h' : undefined
}
