import { InvariantError } from '../errors.ts'
import type { Hash } from '../wire/hash.ts'
import type { Prompt } from './prompt.ts'

// Exact accounting of the provider's prompt cache. Entries are written only at breakpoints; a read walks back from each breakpoint;
// lifetimes start with the request and are renewed by reads; an entry can be read once the response that wrote it has begun.

/** Most breakpoints in a request, including the automatic one. */
export const BREAKPOINTS_MAX = 4

/** Positions that a read checks from one breakpoint, including the breakpoint itself. */
export const LOOKBACK_POSITIONS = 20

export const TTL_MS = { '5m': 300_000, '1h': 3_600_000 } as const
export type Ttl = keyof typeof TTL_MS

export interface Breakpoint {
  /** Index into the prompt's positions. */
  readonly index: number
  readonly ttl: Ttl
}

export interface CacheRequest {
  /** When the request started, in milliseconds since 1970. */
  readonly at: number
  readonly prompt: Prompt
  /** In rising order; a longer lifetime never comes after a shorter one. */
  readonly breakpoints: readonly Breakpoint[]
  /** Shorter prefixes are silently not cached. */
  readonly minimumTokens: number
}

export interface CacheEntry {
  readonly ttl: Ttl
  readonly tokens: number
  readonly expiresAt: number
  readonly readableAt: number
}

/** The state belongs to whoever charges requests to it. */
export interface Cache {
  readonly entries: Map<Hash, CacheEntry>
}

export interface CacheWrite {
  readonly index: number
  readonly hash: Hash
  readonly ttl: Ttl
  readonly tokens: number
  readonly expiresAt: number
}

export interface CacheCharge {
  readonly read: number
  readonly written5m: number
  readonly written1h: number
  readonly uncached: number
  /** The position whose entry was read; -1 if none was. */
  readonly readIndex: number
  /** Entries that become readable when the response begins. */
  readonly writes: readonly CacheWrite[]
  /** Entries that were read from a breakpoint, which renews them. */
  readonly renewed: readonly Hash[]
}

export function createCache(): Cache {
  return { entries: new Map() }
}

/** What a request would be charged now. Changes nothing. */
export function quoteRequest(cache: Cache, request: CacheRequest): CacheCharge {
  requireOrder(request)
  const hits = request.breakpoints.map((breakpoint) => findRead(cache, request, breakpoint.index))
  const readIndex = Math.max(-1, ...hits)
  const read = tokensAt(request, readIndex)
  const writes = planWrites(request, readIndex)
  const written = writes.at(-1)?.tokens ?? read
  return {
    read,
    written5m: writtenTokens(writes, read, '5m'),
    written1h: writtenTokens(writes, read, '1h'),
    uncached: request.prompt.tokens - Math.max(read, written),
    readIndex,
    writes,
    renewed: hits.filter((index) => index >= 0).map((index) => hashAt(request, index)),
  }
}

/** Charges a request. What it reads is renewed from the start of the request; its writes wait for `publishWrites`. */
export function chargeRequest(cache: Cache, request: CacheRequest): CacheCharge {
  const charge = quoteRequest(cache, request)
  for (const hash of charge.renewed) {
    const entry = cache.entries.get(hash)
    if (!entry) continue
    const expiresAt = Math.max(entry.expiresAt, request.at + TTL_MS[entry.ttl])
    cache.entries.set(hash, { ...entry, expiresAt })
  }
  return charge
}

/** The response has begun: from now on, what its request wrote can be read. */
export function publishWrites(cache: Cache, charge: CacheCharge, beganAt: number): void {
  for (const write of charge.writes) {
    const old = cache.entries.get(write.hash)
    const alive = old !== undefined && old.expiresAt > beganAt
    cache.entries.set(write.hash, {
      // Two requests can write the same prefix at the same time: the longer lifetime stays, since it was paid for.
      ttl: alive && TTL_MS[old.ttl] > TTL_MS[write.ttl] ? old.ttl : write.ttl,
      tokens: write.tokens,
      expiresAt: alive ? Math.max(old.expiresAt, write.expiresAt) : write.expiresAt,
      readableAt: alive ? Math.min(old.readableAt, beganAt) : beganAt,
    })
  }
}

export function isReadable(entry: CacheEntry, at: number): boolean {
  return entry.readableAt <= at && at < entry.expiresAt
}

function findRead(cache: Cache, request: CacheRequest, from: number): number {
  const stop = Math.max(0, from - LOOKBACK_POSITIONS + 1)
  for (let index = from; index >= stop; index--) {
    const entry = cache.entries.get(hashAt(request, index))
    if (entry && isReadable(entry, request.at)) return index
  }
  return -1
}

function planWrites(request: CacheRequest, readIndex: number): CacheWrite[] {
  return request.breakpoints
    .filter((breakpoint) => breakpoint.index > readIndex)
    .filter((breakpoint) => tokensAt(request, breakpoint.index) >= request.minimumTokens)
    .map(({ index, ttl }) => ({
      index,
      hash: hashAt(request, index),
      ttl,
      tokens: tokensAt(request, index),
      expiresAt: request.at + TTL_MS[ttl],
    }))
}

/** Each stretch is billed at the lifetime of the breakpoint that ends it. */
function writtenTokens(writes: readonly CacheWrite[], read: number, ttl: Ttl): number {
  let from = read
  let sum = 0
  for (const write of writes) {
    if (write.ttl === ttl) sum += write.tokens - from
    from = write.tokens
  }
  return sum
}

function requireOrder(request: CacheRequest): void {
  let previous: Breakpoint | undefined
  for (const breakpoint of request.breakpoints) {
    if (!request.prompt.positions[breakpoint.index])
      throw new InvariantError(
        'L1',
        `breakpoint at position ${breakpoint.index} of ${request.prompt.positions.length}`,
      )
    if (previous && breakpoint.index <= previous.index)
      throw new InvariantError('L1', 'breakpoints must be in rising order, one per position')
    if (previous && TTL_MS[breakpoint.ttl] > TTL_MS[previous.ttl])
      throw new InvariantError('L1', 'a breakpoint with a longer lifetime comes after a shorter one')
    previous = breakpoint
  }
  if (request.breakpoints.length > BREAKPOINTS_MAX)
    throw new InvariantError('L1', `${request.breakpoints.length} breakpoints, at most ${BREAKPOINTS_MAX}`)
}

function tokensAt(request: CacheRequest, index: number): number {
  return request.prompt.positions[index]?.tokens ?? 0
}

function hashAt(request: CacheRequest, index: number): Hash {
  return request.prompt.positions[index]?.hash ?? ''
}
