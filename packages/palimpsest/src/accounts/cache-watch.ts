import {
  chargeRequest,
  createCache,
  isReadable,
  publishWrites,
  quoteRequest,
  type Breakpoint,
  type Cache,
  type CacheCharge,
  type CacheRequest,
} from '../ledger/cache.ts'
import { explainCharge } from '../ledger/explain.ts'
import type { Entry, EntryId } from '../transcript/entry.ts'
import type { Settled } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import type { Hash } from '../wire/hash.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import type { CacheMissReason } from '../wire/response.ts'
import { contextUsage, promptTokens, type Usage } from '../wire/usage.ts'
import type { BreakpointPlace } from '../request/breakpoint-places.ts'
import { placeLifetime, systemLifetime, type CacheLifetimes } from '../request/build-request.ts'
import { editEffect, type EditEffect } from './edit-effect.ts'
import { layRequest, type LaidRequest } from '../request/lay-request.ts'
import { hiddenHead, promptHead } from '../request/prompt-head.ts'

// Compares what each request read from the cache with what the ledger says it must have read. What was declared (edits, compactions, undo)
// and what expired is foreseen and raises no alarm. Sizes are not guessed: usage shows where the cached part of a request ended.

/** A shortfall is a break if it is over both: less is noise in the provider's own counting. */
const SHORTFALL_SHARE = 0.05
const SHORTFALL_TOKENS = 2_000
/** Most known ends that are kept: a read goes back to one of the last, or to the first. */
const ENDS_MAX = 64

export interface WatchedRequest {
  readonly view: View
  readonly settled: Settled
  readonly places: readonly BreakpointPlace[]
  readonly lifetimes: CacheLifetimes
  readonly facts: ModelFacts
  /** Now, in milliseconds. */
  readonly at: number
  /** Turns a raw estimate into tokens. */
  readonly toTokens: (raw: number) => number
  /** Something outside the view changed what is sent: a recorded agent's own clearing. */
  readonly changedUnseen?: boolean
}

export interface WatchedAnswer {
  readonly usage: Usage
  /** When its request was sent; if there were several attempts, the one that was answered. */
  readonly sentAt: number
  /** When the answer began or, if that is unknown, ended. */
  readonly at: number
  /** What the provider says about it. */
  readonly diagnosis?: CacheMissReason | null | undefined
  /** Tokens that the provider itself removed from the request. */
  readonly clearedTokens?: number
}

/** Less was read than must have been in the cache. */
export interface CacheBreak {
  /** `tools`, `system`, `messages`, a member of the cache key (`model`, `betas`, `thinking`, …), or `unknown`. */
  readonly cause: string
  /** The first position that differs (`tools.3`, `messages.4.content.0`) or, if none does, the one that should have been read. */
  readonly path: string
  readonly expectedTokens: number
  readonly readTokens: number
  /** The provider's own diagnosis. */
  readonly diagnosis?: string
}

/** Why a fall was foreseen. */
export type CacheFall = 'edit' | 'boundary' | 'void' | 'expired' | 'thinking' | 'server' | 'cache' | 'unseen'

export interface CacheReading {
  readonly expectedTokens: number
  readonly readTokens: number
  readonly inputTokens: number
  readonly break?: CacheBreak
  readonly fall?: CacheFall | undefined
  /** The effect of the edits before this request. */
  readonly effect?: EditEffect | undefined
}

export interface CacheWatch {
  /** What the ledger says a request would cost now, without its answer. The cache stays as it is. */
  readonly quote: (request: WatchedRequest) => Usage
  /** Takes the answer to the request that was quoted last: only now do we know what it did to the cache. */
  readonly answered: (answer: WatchedAnswer) => CacheReading
}

/** Where the cached part of a request ended. Lists are in rising order. */
interface KnownEnd {
  readonly index: number
  readonly hash: Hash
  readonly tokens: number
}

interface Answered {
  readonly request: CacheRequest
  /** The end of its cached part; undefined if nothing was cached. */
  readonly end: KnownEnd | undefined
  readonly inputTokens: number
  readonly logLength: number
  readonly clearedTokens: number
}

interface Pending {
  readonly watched: WatchedRequest
  readonly request: CacheRequest
  readonly charge: CacheCharge
  readonly since: readonly Entry[]
  readonly logLength: number
  /** Whether the end of the previous request could still be read when this one was sent. */
  readonly wasAlive: boolean
  /** The first position that differs from the previous request, within what that one had cached. */
  readonly changedPath: string | undefined
}

interface Quoted {
  readonly watched: WatchedRequest
  readonly request: CacheRequest
}

export function createCacheWatch(): CacheWatch {
  const cache = createCache()
  let laid: LaidRequest | undefined
  let quoted: Quoted | undefined
  let ends: readonly KnownEnd[] = []
  let last: Answered | undefined
  return {
    quote: (watched) => {
      laid = lay(watched, laid)
      quoted = { watched, request: toCacheRequest(laid, watched) }
      return toUsage(quoteRequest(cache, quoted.request))
    },
    answered: (answer) => {
      if (!quoted) return { expectedTokens: 0, readTokens: 0, inputTokens: 0 }
      const pending = send(cache, quoted, answer.sentAt, last)
      const { request, charge, logLength } = pending
      publishWrites(cache, charge, answer.at)
      // A hash covers everything before it: if one still matches, those before it do.
      ends = ends.slice(
        0,
        ends.findLastIndex(({ index, hash }) => request.prompt.positions[index]?.hash === hash) + 1,
      )
      const reading = readingOf(pending, answer, last, ends)
      const found = endsOf(request, answer.usage)
      // What we knew about sizes was for a prompt with more in it.
      const standing = reading.fall === 'server' || reading.fall === 'cache' ? [] : ends
      ends = newest(withEnds(standing, found))
      const { clearedTokens = 0 } = answer
      last = { request, logLength, clearedTokens, inputTokens: reading.inputTokens, end: found.at(-1) }
      quoted = undefined
      return reading
    },
  }
}

/** Charges the cache with a request, and says why it costs what it does. */
function send(cache: Cache, quoted: Quoted, sentAt: number, last: Answered | undefined): Pending {
  const { watched } = quoted
  const request = { ...quoted.request, at: sentAt }
  const { log } = watched.view
  const entry = last?.end && cache.entries.get(last.end.hash)
  const wasAlive = entry !== undefined && isReadable(entry, sentAt)
  const charge = chargeRequest(cache, request)
  const why = explainCharge(cache, request, charge, last?.request)
  return {
    watched,
    request,
    charge,
    since: log.slice(last?.logLength ?? log.length),
    logLength: log.length,
    wasAlive,
    changedPath: why.kind === 'changed' ? why.path : undefined,
  }
}

function toUsage({ read, written5m, written1h, uncached }: CacheCharge): Usage {
  const [short, long] = [Math.round(written5m), Math.round(written1h)]
  return {
    input_tokens: Math.round(uncached),
    output_tokens: 0,
    cache_read_input_tokens: Math.round(read),
    cache_creation_input_tokens: short + long,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
  }
}

/** New ends replace known ones in the same place. Usually they come after all of these. */
function withEnds(known: readonly KnownEnd[], found: readonly KnownEnd[]): readonly KnownEnd[] {
  const last = known.at(-1)?.index ?? -1
  if (found.every(({ index }) => index > last)) return [...known, ...found]
  const others = known.filter(({ index }) => found.every((end) => end.index !== index))
  return [...others, ...found].toSorted((a, b) => a.index - b.index)
}

/** The first is the end of `system`, which outlives the others. */
function newest(ends: readonly KnownEnd[]): readonly KnownEnd[] {
  return ends.length > ENDS_MAX ? [...ends.slice(0, 1), ...ends.slice(1 - ENDS_MAX)] : ends
}

function lay(
  { view, settled, places, toTokens, facts }: WatchedRequest,
  last: LaidRequest | undefined,
): LaidRequest {
  const head = view.prefix ? promptHead(view.prefix) : hiddenHead(facts.id)
  return layRequest({ settled, head, places, toTokens }, last)
}

function toCacheRequest(laid: LaidRequest, { at, facts, lifetimes, places }: WatchedRequest): CacheRequest {
  const before = laid.breakpoints.length - places.length
  const breakpoints = laid.breakpoints.map((index, i): Breakpoint => {
    const slot = places[i - before]?.slot
    return { index, ttl: slot === undefined ? systemLifetime(lifetimes) : placeLifetime(lifetimes, slot) }
  })
  return { at, prompt: laid.prompt, breakpoints, minimumTokens: facts.cacheMinimumTokens }
}

function readingOf(
  pending: Pending,
  { usage, diagnosis, clearedTokens = 0 }: WatchedAnswer,
  last: Answered | undefined,
  ends: readonly KnownEnd[],
): CacheReading {
  const inputTokens = promptTokens(usage)
  const readTokens = contextUsage(usage).cache_read_input_tokens ?? 0
  const { expectedTokens, path } = expectationOf(pending, last, ends)
  const isCleared = clearedTokens !== (last?.clearedTokens ?? 0)
  const fall = isCleared ? 'server' : fallOf(pending, last)
  const effect = last ? editEffect(effectInput(pending, usage, last)) : undefined
  const reading = {
    expectedTokens,
    readTokens,
    inputTokens,
    fall,
    effect,
  }
  const isExcused = pending.watched.changedUnseen === true || (fall !== undefined && RESIZING.has(fall))
  if (isExcused || !isShort(expectedTokens, readTokens)) return reading
  const told = diagnosis ? { diagnosis: diagnosis.type } : {}
  const cause = causeOf(pending, diagnosis)
  return { ...reading, break: { cause, path, expectedTokens, readTokens, ...told } }
}

/** The provider removes something from what it had cached, so how much is read is up to the provider. */
const RESIZING: ReadonlySet<CacheFall> = new Set(['thinking', 'server', 'cache'])

function isShort(expected: number, read: number): boolean {
  const shortfall = expected - read
  return shortfall > SHORTFALL_TOKENS && shortfall > SHORTFALL_SHARE * expected
}

interface Expectation {
  readonly expectedTokens: number
  readonly path: string
}

/**
 * A change that nobody declared should not have happened, so we expect what the previous request had cached. Otherwise, what the ledger
 * reads, as far as its size is known.
 */
function expectationOf(pending: Pending, last: Answered | undefined, ends: readonly KnownEnd[]): Expectation {
  const { request, charge, wasAlive, changedPath } = pending
  if (changedPath !== undefined && !isDeclared(pending, changedPath))
    return { expectedTokens: wasAlive ? (last?.end?.tokens ?? 0) : 0, path: changedPath }
  const end = ends.findLast(({ index }) => index <= charge.readIndex)
  const path = request.prompt.positions[end?.index ?? 0]?.path ?? ''
  return { expectedTokens: end?.tokens ?? 0, path }
}

const DECLARED: ReadonlySet<string> = new Set(['edit', 'boundary', 'void'])

/** An edit may change messages and remove the last image; it cannot change anything else. */
function isDeclared({ since }: Pending, path: string): boolean {
  const reaches = path === 'images' || path.startsWith('messages')
  return reaches && since.some(({ kind }) => DECLARED.has(kind))
}

function fallOf(pending: Pending, last: Answered | undefined): CacheFall | undefined {
  const { since, wasAlive, watched } = pending
  if (!last?.end) return undefined
  const declared = since.find(({ kind }) => DECLARED.has(kind))?.kind
  if (!wasAlive) return 'expired'
  if (since.some((entry) => entry.kind === 'edit' && entry.cause === 'cache')) return 'cache'
  if (declared === 'edit' || declared === 'boundary' || declared === 'void') return declared
  if (watched.changedUnseen) return 'unseen'
  return dropsThinking(pending) ? 'thinking' : undefined
}

/** Some models never see the thinking of earlier turns: with a new prompt the provider removes it from what it had cached. */
function dropsThinking({ watched, since }: Pending): boolean {
  if (watched.facts.thinking.keptAcrossTurns) return false
  return since.some(
    (entry) => entry.kind === 'message' && entry.message.role === 'user' && isPrompt(entry.json),
  )
}

function isPrompt(json: string): boolean {
  return !json.includes('"tool_result"')
}

/** Something between us and the provider may change what we sent; then only the provider can say what. */
function causeOf({ changedPath }: Pending, diagnosis: CacheMissReason | null | undefined): string {
  if (changedPath !== undefined) return changedPath.split('.')[0] ?? changedPath
  const told = diagnosis?.type ?? ''
  return told.endsWith(CHANGED) ? told.slice(0, -CHANGED.length) : 'unknown'
}

const CHANGED = '_changed'

/**
 * Positions whose size this usage shows: that of the last breakpoint and, if everything was written, the end of `system` when it has a
 * lifetime of its own.
 */
function endsOf({ prompt, breakpoints }: CacheRequest, usage: Usage): readonly KnownEnd[] {
  const {
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    cache_creation: by,
  } = contextUsage(usage)
  const end = knownEnd(breakpoints.at(-1), (read ?? 0) + (written ?? 0), prompt)
  const first = breakpoints[0]
  const hasOwn = first?.ttl === '1h' && breakpoints[1]?.ttl === '5m' && !read
  const head = hasOwn ? knownEnd(first, by?.ephemeral_1h_input_tokens ?? 0, prompt) : []
  return [...head, ...end]
}

function knownEnd(
  breakpoint: Breakpoint | undefined,
  tokens: number,
  { positions }: CacheRequest['prompt'],
): readonly KnownEnd[] {
  const position = breakpoint && positions[breakpoint.index]
  return breakpoint && position && tokens > 0
    ? [{ index: breakpoint.index, hash: position.hash, tokens }]
    : []
}

function effectInput(pending: Pending, usage: Usage, last: Answered): Parameters<typeof editEffect>[0] {
  const { watched, charge, since, wasAlive } = pending
  const edits = since.flatMap((entry): EntryId[] =>
    entry.kind === 'edit' || entry.kind === 'boundary' ? [entry.id] : [],
  )
  const fresh = new Set(since.map(({ id }) => id))
  return { ...watched, edits, fresh, charge, usage, wasAlive, inputTokensBefore: last.inputTokens }
}
