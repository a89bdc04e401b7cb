import type { CacheExplanation } from '../../ledger/explain.ts'
import type { BilledTokens } from '../../ledger/prices.ts'
import type { ErrorBody } from '../../wire/response.ts'
import type { Usage } from '../../wire/usage.ts'
import {
  createBodyStore,
  readBody,
  storeBody,
  storedChars,
  type BodyStore,
  type ReadBodies,
  type StoredBody,
} from './body-store.ts'
import type { Fault } from './faults.ts'
import type { HeaderRecord } from './headers.ts'

// Every request that was made, and its outcome.

export interface LoggedRequest {
  readonly id: string
  /** ISO time on the simulator's clock. */
  readonly at: string
  readonly path: string
  readonly headers: HeaderRecord
  /** Null if the request had none, or if it was dropped to stay within the log's limit. */
  readonly body: string | object | null
  readonly status: number
  /** As answered; an error in mid-stream has status 200. */
  readonly error?: ErrorBody['error'] | undefined
  /** The fault that struck it. */
  readonly fault?: Fault | undefined
  readonly usage: Usage | null
  readonly cost_usd: number
  readonly input_tokens: number
  readonly common_prefix_tokens: number
  readonly prefix_of: string | null
  readonly cache_explanation: CacheExplanation | null
}

export interface LogTotals {
  requests: number
  refused: { [reason: string]: number }
  tokens: {
    input: number
    read: number
    written5m: number
    written1h: number
    uncached: number
    output: number
  }
  cost: number
}

interface Held {
  readonly entry: Omit<LoggedRequest, 'body'>
  /** Null once it is dropped. */
  body: { readonly given: object } | { readonly stored: StoredBody } | null
}

export interface RequestLog {
  readonly held: Held[]
  readonly bodies: BodyStore
  readonly totals: LogTotals
  readonly charsMax: number
  /** Characters of the stored bodies, and index of the oldest entry that still has its body. */
  chars: number
  oldest: number
}

export function createRequestLog(charsMax: number): RequestLog {
  const tokens = { input: 0, read: 0, written5m: 0, written1h: 0, uncached: 0, output: 0 }
  const bodies = createBodyStore()
  return {
    held: [],
    bodies,
    totals: { requests: 0, refused: {}, tokens, cost: 0 },
    charsMax,
    chars: 0,
    oldest: 0,
  }
}

export interface Billing {
  readonly billed: readonly BilledTokens[]
  readonly refusedBy?: string | undefined
}

export function logRequest(log: RequestLog, { body, ...entry }: LoggedRequest, billing: Billing): void {
  log.held.push({ entry, body: hold(log, body) })
  log.totals.requests++
  log.totals.cost += entry.cost_usd
  const reason = billing.refusedBy
  if (reason !== undefined) log.totals.refused[reason] = (log.totals.refused[reason] ?? 0) + 1
  for (const billed of billing.billed) addTokens(log.totals.tokens, billed)
  while (log.chars > log.charsMax && log.oldest < log.held.length - 1) dropBody(log)
}

/** What was logged, oldest first. A body is assembled when it is read. */
export function loggedRequests({ held }: RequestLog): readonly LoggedRequest[] {
  const read: ReadBodies = new Map()
  return held.map(({ entry, body }) => ({
    ...entry,
    get body() {
      if (!body) return null
      return 'given' in body ? body.given : readBody(body.stored, read)
    },
  }))
}

function hold(log: RequestLog, body: LoggedRequest['body']): Held['body'] {
  if (body === null) return null
  if (typeof body !== 'string') return { given: body }
  const stored = storeBody(log.bodies, body)
  log.chars += storedChars(stored)
  return { stored }
}

function addTokens(sum: LogTotals['tokens'], billed: BilledTokens): void {
  sum.read += billed.read
  sum.written5m += billed.written5m
  sum.written1h += billed.written1h
  sum.uncached += billed.uncached
  sum.output += billed.output
  sum.input += billed.read + billed.written5m + billed.written1h + billed.uncached
}

function dropBody(log: RequestLog): void {
  const held = log.held[log.oldest++]
  if (!held?.body || 'given' in held.body) return
  log.chars -= storedChars(held.body.stored)
  held.body = null
}

export interface Stats {
  readonly requests: number
  readonly refused: { readonly [reason: string]: number }
  readonly tokens: {
    readonly input: number
    readonly cache_read: number
    readonly cache_write_5m: number
    readonly cache_write_1h: number
    readonly uncached: number
    readonly output: number
  }
  readonly cost_usd: number
  /** Share of all input tokens that were read from the cache. */
  readonly hit_rate: number
}

export function statsOf({ totals }: RequestLog): Stats {
  const { tokens } = totals
  return {
    requests: totals.requests,
    refused: { ...totals.refused },
    tokens: {
      input: tokens.input,
      cache_read: tokens.read,
      cache_write_5m: tokens.written5m,
      cache_write_1h: tokens.written1h,
      uncached: tokens.uncached,
      output: tokens.output,
    },
    cost_usd: totals.cost,
    hit_rate: tokens.input === 0 ? 0 : tokens.read / tokens.input,
  }
}

/** The log as JSON text, in pieces, because all bodies together may exceed the longest possible string. Bodies appear as received. */
export function* renderLog(log: RequestLog): Generator<string> {
  yield '['
  for (const [i, { body, ...rest }] of loggedRequests(log).entries()) {
    const fields = JSON.stringify(rest).slice(0, -1)
    yield `${i === 0 ? '' : ',\n'}${fields},"body":`
    yield typeof body === 'string' ? bodyJson(body, rest.status) : JSON.stringify(body)
    yield '}'
  }
  yield ']'
}

/** A body that is not JSON becomes a string. An answered body is JSON. */
function bodyJson(body: string, status: number): string {
  if (status === 200) return body
  try {
    JSON.parse(body)
    return body
  } catch {
    return JSON.stringify(body)
  }
}
