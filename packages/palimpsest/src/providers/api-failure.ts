import { ProviderError, type ProviderFailure } from '../errors.ts'
import { overflowFailure, parseOverflow } from '../tokens/overflow.ts'
import { isJsonObject } from '../wire/json.ts'
import { connectionFailure, type AskedAddress } from './connection-failure.ts'

// What a provider's refusal means, whichever client reported it: by status, headers, and the text of its body.

/** Enough for any sentence; a longer text is not one. */
const SAID_CHARS_MAX = 500

/** What a client's error contains. */
export interface ApiFailure {
  readonly status: number | undefined
  readonly message: string
  readonly body: unknown
  readonly headers: Headers | undefined
  readonly requestId: string | undefined
}

/** What to tell the user to do, by problem. */
export interface Cures extends AskedAddress {
  readonly key: string
}

export function providerError(failure: ApiFailure, cures: Cures, cause: unknown): ProviderError {
  const id = failure.requestId === undefined ? {} : { requestId: failure.requestId }
  const connection = failure.status === undefined ? connectionFailure(cause, cures) : undefined
  if (connection) return new ProviderError(connection.failure, connection.text, { cause, ...id })
  return new ProviderError(classify(failure), describe(failure, cures.key), { cause, ...id })
}

/** An error that we threw below an SDK, which may have wrapped it. */
export function ownError(error: unknown): ProviderError | undefined {
  if (error instanceof ProviderError) return error
  return error instanceof Error && error.cause !== undefined ? ownError(error.cause) : undefined
}

function classify(failure: ApiFailure): ProviderFailure {
  const { status, headers } = failure
  const after = retryAfterMs(headers)
  const patience = after === undefined ? {} : { retryAfterMs: after }
  if (status === undefined) return { kind: 'transport', ...patience }
  const overflow = status < 500 && status !== 429 ? parseOverflow(failure.body ?? failure.message) : undefined
  if (overflow) return overflowFailure(overflow)
  const coded = codeIn(failure.body)
  if (headers?.get('x-should-retry') === 'false') return { kind: 'invalid-request', status, ...coded }
  switch (true) {
    case status === 401 || status === 402 || status === 403:
      return { kind: 'unauthorized' }
    case status === 413:
      return { kind: 'context-overflow' }
    case status === 429:
      return { kind: 'rate-limited', ...patience }
    case status === 529:
      return { kind: 'overloaded', ...patience, ...coded }
    case status === 408 || status === 409 || status >= 500:
      return { kind: 'transport', ...patience }
    default:
      return { kind: 'invalid-request', status, ...coded }
  }
}

function describe({ status, body, message }: ApiFailure, keyCure: string): string {
  // If an SDK found no message elsewhere, it puts the status before the text.
  const said = readable(messageIn(body) ?? message.replace(/^\d{3} /, ''))
  switch (status) {
    case undefined:
      return `The provider could not be reached: ${said}. Check the network and the base URL.`
    case 401:
    case 403:
      return `The provider refused the key (${status}): ${said}. ${keyCure}`
    case 404:
      return `The provider does not know this model or address (404): ${said}. Check --model and the base URL.`
    default:
      return `The provider answered ${status}: ${said}`
  }
}

/** A gateway may answer with a whole page. */
function readable(text: string): string {
  if (/<!doctype html|<html/i.test(text)) return 'a page of HTML'
  return text.length > SAID_CHARS_MAX ? `${text.slice(0, SAID_CHARS_MAX)}…` : text
}

/** The deepest cause says most: "fetch failed" hides ECONNREFUSED. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof Error && cause !== error) return rootMessage(cause)
  return error.message || error.name
}

/** `error.details.error_code`, which is more precise than any type. */
function codeIn(body: unknown): { code?: string } {
  const inner = isJsonObject(body) ? body['error'] : undefined
  const details = isJsonObject(inner) ? inner['details'] : undefined
  const code = isJsonObject(details) ? details['error_code'] : undefined
  return typeof code === 'string' ? { code } : {}
}

/** `error.message` is the usual place; other servers use `error`, `message` or `detail`. */
export function messageIn(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined
  const inner = body['error']
  const places = [isJsonObject(inner) ? inner['message'] : inner, body['message'], body['detail']]
  return places.find((text) => typeof text === 'string')
}

function retryAfterMs(headers: Headers | undefined): number | undefined {
  const ms = Number(headers?.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(ms)) return ms
  const after = headers?.get('retry-after')
  if (after === null || after === undefined) return undefined
  const seconds = Number(after)
  if (Number.isFinite(seconds)) return seconds * 1000
  const date = Date.parse(after)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
