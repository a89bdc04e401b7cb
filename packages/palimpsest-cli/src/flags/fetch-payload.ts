import { systemCode } from '../agent/files/system-code.ts'
import { PAYLOAD_BYTES_MAX } from './read-payload.ts'

// One request to the service. It carries nothing about the session, follows no redirect, and is bounded in time and size.

export type Fetched =
  | { readonly kind: 'payload'; readonly text: string; readonly etag?: string | undefined }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly reason: string }

export interface FetchOptions {
  readonly url: string
  /** ETag of the payload that we already have. */
  readonly etag?: string | undefined
  readonly answerMsMax: number
}

export async function fetchPayload(options: FetchOptions, signal: AbortSignal): Promise<Fetched> {
  const { url, etag, answerMsMax } = options
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]),
    })
    if (response.status === UNCHANGED && etag !== undefined) return { kind: 'unchanged' }
    if (response.status !== OK) {
      await response.body?.cancel()
      return failed(statusReason(response))
    }
    const text = await readBounded(response)
    if (text === undefined) return failed(`the answer is larger than ${PAYLOAD_BYTES_MAX} bytes`)
    const newEtag = response.headers.get('etag')
    return { kind: 'payload', text, etag: newEtag ?? undefined }
  } catch (error) {
    return failed(errorReason(error, answerMsMax))
  }
}

const OK = 200
const UNCHANGED = 304
const REDIRECTS = new Set([301, 302, 303, 307, 308])

function failed(reason: string): Fetched {
  return { kind: 'failed', reason }
}

function statusReason({ status, type }: Response): string {
  const leadsElsewhere = type === 'opaqueredirect' || REDIRECTS.has(status)
  return leadsElsewhere
    ? 'it answers with a redirect, which Palimpsest does not follow. Use the address that it leads to'
    : `it answers with status ${status}`
}

/** Undefined if it is too long; the rest is not read. */
async function readBounded({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = body ?? []
  for await (const chunk of parts) {
    bytes += chunk.byteLength
    if (bytes > PAYLOAD_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

function errorReason(error: unknown, answerMsMax: number): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `it does not answer within ${answerMsMax} ms`
  const cause = error instanceof Error ? error.cause : undefined
  return `it cannot be reached (${systemCode(cause) ?? systemCode(error) ?? String(error)})`
}
