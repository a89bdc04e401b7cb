import { lookup as lookUp, type LookupAddress } from 'node:dns'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

import { Refusal } from '../refusal.ts'
import { isPublicAddress } from './public-address.ts'

// Fetches one web page. The address is checked when the connection is made, so a name cannot mean one address when it is checked and
// another when it is used.

export const PAGE_BYTES_MAX = 10 * 1024 * 1024
export const PAGE_MS_MAX = 30_000
const REDIRECTS_MAX = 10

export interface FetchOptions {
  /** Hosts (`localhost:3000`, `localhost`) that may be reached although their address is private. */
  readonly privateHosts: readonly string[]
  /** Hosts that a rule forbids, or asks about: no redirect to them is followed. */
  readonly isForbidden?: (url: URL) => boolean
  readonly signal: AbortSignal
}

export type FetchedPage =
  | {
      readonly kind: 'page'
      readonly url: URL
      readonly status: number
      readonly contentType: string
      readonly body: Buffer
    }
  /** To another host: the caller decides. */
  | { readonly kind: 'redirect'; readonly to: URL }

export async function fetchPage(start: URL, options: FetchOptions): Promise<FetchedPage> {
  const { privateHosts, isForbidden, signal } = options
  const limited = AbortSignal.any([signal, AbortSignal.timeout(PAGE_MS_MAX)])
  let url = start
  try {
    for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
      const isFree = privateHosts.includes(url.host) || privateHosts.includes(url.hostname)
      const response = await open(url, isFree, limited)
      const to = redirectOf(response, url)
      if (to === undefined) {
        const contentType = response.headers['content-type'] ?? ''
        return {
          kind: 'page',
          url,
          status: response.statusCode ?? 0,
          contentType,
          body: await readBody(response),
        }
      }
      response.destroy()
      if (!isSameHost(to, url) || isForbidden?.(to) === true) return { kind: 'redirect', to }
      url = to
    }
  } catch (error) {
    throw describe(error, url, signal)
  }
  throw new Refusal(`${start.href} redirects more than ${REDIRECTS_MAX} times.`)
}

/** Checks an address that a model gives. */
export function toPageUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null) throw new Refusal(`"${text}" is no address. Give a whole one: https://example.com/page`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Refusal(`${url.protocol} addresses are not fetched, only http and https.`)
  if (url.username !== '' || url.password !== '')
    throw new Refusal('Addresses with a user name or password are not fetched.')
  // A dot at the end of a name means the same host, and rules name it without the dot.
  url.hostname = url.hostname.replace(/(?<!\.)\.+$/, '')
  return url
}

function isSameHost(a: URL, b: URL): boolean {
  const plain = (url: URL): string => url.hostname.replace(/^www\./, '')
  return plain(a) === plain(b) && (a.port === b.port || (a.port === '' && b.port === ''))
}

function redirectOf(response: IncomingMessage, url: URL): URL | undefined {
  const { statusCode = 0, headers } = response
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined
  const to = URL.parse(headers.location, url.href)
  if (to === null) throw new Refusal(`${url.href} redirects to something that is no address.`)
  return toPageUrl(to.href)
}

async function open(url: URL, isFree: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!isFree && isIP(host) !== 0 && !isPublicAddress(host)) throw privateAddress(url.hostname)
  const options: RequestOptions = {
    method: 'GET',
    signal,
    agent: false,
    headers: {
      'user-agent': 'palimpsest (a coding agent)',
      accept: 'text/html, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8',
      'accept-encoding': 'gzip, deflate, br',
    },
    lookup: isFree ? undefined : publicLookup,
  }
  // They load a lot, and startup does not need them.
  const { request: send } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  return await new Promise((resolve, reject) => {
    const request = send(url, options, resolve)
    request.once('error', reject)
    request.end()
  })
}

/** Resolves a name, and refuses it if any of its addresses is private. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookUp(
    hostname,
    { ...options, all: true },
    (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, [])
      const [first] = addresses
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return callback(privateAddress(hostname), [])
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family)
    },
  )
}

function privateAddress(host: string): Refusal {
  return new Refusal(
    `${host} is an address of this machine or its network, and is not fetched. A rule allows it: WebFetch(domain:${host}).`,
  )
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of decoded(response)) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > PAGE_BYTES_MAX) {
      response.destroy()
      throw new Refusal(`The page is larger than ${PAGE_BYTES_MAX} bytes.`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function decoded(response: IncomingMessage): Readable {
  const forward = <T extends Readable & NodeJS.WritableStream>(decoder: T): T => {
    response.once('error', (error) => decoder.destroy(error))
    return response.pipe(decoder)
  }
  switch ((response.headers['content-encoding'] ?? '').toLowerCase()) {
    case 'gzip':
      return forward(createGunzip())
    case 'deflate':
      return forward(createInflate())
    case 'br':
      return forward(createBrotliDecompress())
    default:
      return response
  }
}

function describe(error: unknown, url: URL, signal: AbortSignal): unknown {
  if (error instanceof Refusal) return error
  if (signal.aborted) return new Refusal('The fetch was interrupted.')
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
    return new Refusal(`${url.href} did not answer within ${PAGE_MS_MAX / 1000} seconds.`, { cause: error })
  const text = error instanceof Error ? error.message || error.name : String(error)
  return new Refusal(`${url.href} could not be fetched: ${text}.`, { cause: error })
}
