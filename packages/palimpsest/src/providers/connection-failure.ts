import type { ProviderFailure } from '../errors.ts'

// What the error code of a failed connection means: whether a retry can help, and what to do. "fetch failed" says neither.

export interface ConnectionFailure {
  readonly failure: ProviderFailure
  readonly text: string
}

/** What we know about the requested address. */
export interface AskedAddress {
  readonly url: string
  /** What the user should do if nothing listens there. */
  readonly reach: string
}

/** Undefined if the error has no code that says more than its message. */
export function connectionFailure(error: unknown, asked: AskedAddress): ConnectionFailure | undefined {
  const code = codesOf(error)[0]
  const host = URL.parse(asked.url)?.host ?? asked.url
  if (code === undefined) return wordedFailure(error, host)
  switch (true) {
    case code === 'ECONNREFUSED' && isLoopback(asked.url):
      return { failure: { kind: 'unreachable' }, text: `Nothing listens at ${host}. ${asked.reach}` }
    case code === 'ECONNREFUSED':
      return { failure: { kind: 'transport' }, text: `${host} refused the connection. ${CHECK_URL}` }
    case code === 'ENOTFOUND':
      return { failure: { kind: 'transport' }, text: `There is no host ${host}. ${CHECK_NETWORK}` }
    case code.includes('CERT') || code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return {
        failure: { kind: 'unusable-address' },
        text: `The certificate of ${host} is not trusted (${code}). ${TRUST_IT}`,
      }
    case code === 'EPROTO' || code.startsWith('ERR_SSL'):
      return {
        failure: { kind: 'unusable-address' },
        text: `${host} does not speak TLS (${code}). ${CHECK_SCHEME}`,
      }
    case code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT':
      return { failure: { kind: 'stalled' }, text: `${host} sent nothing for 5 minutes.` }
    case code === 'UND_ERR_HEADERS_OVERFLOW':
      return {
        failure: { kind: 'bad-output' },
        text: `${host} sent more headers than an answer may have. ${CHECK_URL}`,
      }
    case code.startsWith('HPE_') || code.startsWith('Z_') || code.startsWith('ERR_BROTLI'):
      return {
        failure: { kind: 'bad-output' },
        text: `What ${host} sent is not an HTTP answer (${code}). ${CHECK_URL}`,
      }
    default:
      return undefined
  }
}

const CHECK_URL = 'Check the base URL.'
const CHECK_NETWORK = 'Check the network and the base URL.'
const CHECK_SCHEME = 'Check whether the base URL should begin with http:// instead of https://.'
const TRUST_IT = 'Set NODE_EXTRA_CA_CERTS to the file of its authority, or check the base URL.'

/** Some failures have a message and no code. */
function wordedFailure(error: unknown, host: string): ConnectionFailure | undefined {
  const says = (words: RegExp): boolean => causesOf(error).some(({ message }) => words.test(message))
  if (says(/^bad port$/i))
    return {
      failure: { kind: 'unusable-address' },
      text: `Node refuses to connect to the port of ${host}, because another protocol uses it. Let the server listen on another port.`,
    }
  if (!says(/redirect|scheme must be|invalid url/i)) return undefined
  return {
    failure: { kind: 'bad-output' },
    text: `${host} redirected the request to an address that it cannot reach. ${CHECK_URL}`,
  }
}

export function isLoopback(url: string): boolean {
  const name = URL.parse(url)?.hostname ?? ''
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || name.startsWith('127.')
}

function codesOf(error: unknown): readonly string[] {
  return causesOf(error).flatMap((one) => ('code' in one && typeof one.code === 'string' ? [one.code] : []))
}

/** Causes of causes; more than this is a loop. */
const CAUSES_MAX = 16

/** The error and its causes, outermost first. If several addresses were tried, each has its own. */
function causesOf(error: unknown): readonly Error[] {
  const found: Error[] = []
  const open: unknown[] = [error]
  while (open.length > 0 && found.length < CAUSES_MAX) {
    const one = open.shift()
    if (!(one instanceof Error)) continue
    found.push(one)
    open.push(one.cause)
    const { errors }: { readonly errors?: unknown } = one instanceof AggregateError ? one : {}
    for (const each of Array.isArray(errors) ? errors : []) open.push(each)
  }
  return found
}
