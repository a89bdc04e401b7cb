import { ProviderError } from '../../errors.ts'
import { messageIn } from '../api-failure.ts'
import { REFUSAL_BYTES_MAX, REFUSAL_MS_MAX, STREAM_BYTES_MAX } from './answer-limits.ts'
import { createLineMeter } from './line-meter.ts'
import { unlessAborted, type Patience } from './patience.ts'
import { stayAtOrigin } from './stay-at-origin.ts'

/**
 * `fetch` with every answer bounded: an event stream by its length, its lines and their nesting; a refusal by the part worth reading.
 * Redirects to other origins are not followed. Anything that is no event stream is detected here, so that no one parses a login page. An
 * SDK that gets this `fetch` cannot read more.
 */
export function boundedFetch(given: typeof fetch, patience: Patience, cure: string): typeof fetch {
  const send = stayAtOrigin(given)
  return async (input, init) => await boundedAnswer(await send(input, init), patience, cure)
}

/** The same for an answer from someone else's `fetch`. */
export async function boundedAnswer(response: Response, patience: Patience, cure: string): Promise<Response> {
  patience.heard()
  if (!response.ok) {
    // The status is what we waited for; reading the rest has a time limit of its own.
    patience.end()
    return withBody(response, response.body && cutShort(response.body, patience.signal))
  }
  const type = response.headers.get('content-type') ?? 'no content type'
  if (response.body && type.toLowerCase().startsWith('text/event-stream'))
    return withBody(response, guarded(response.body, patience))
  const said = await wordsIn(response, type, patience)
  throw new ProviderError(
    { kind: 'bad-output' },
    `${hostOf(response.url)} answered with ${type}, not with a stream of events${said}. ${cure}`,
  )
}

/** `fetch` with bounded refusals; of a good answer, the caller reads as much as it wants. */
export function cutRefusals(given: typeof fetch): typeof fetch {
  const send = stayAtOrigin(given)
  return async (input, init) => {
    const response = await send(input, init)
    if (response.ok || !response.body) return response
    return withBody(response, cutShort(response.body, init?.signal ?? new AbortController().signal))
  }
}

function withBody(
  { status, statusText, headers }: Response,
  body: ReadableStream<Uint8Array> | null,
): Response {
  return new Response(body, { status, statusText, headers })
}

const SAID_CHARS_MAX = 300

/** Some gateways report failures under a good status. */
async function wordsIn(response: Response, type: string, patience: Patience): Promise<string> {
  const { body } = response
  if (!body || !type.toLowerCase().includes('json')) {
    // The sender learns that we stopped; if that fails, nothing changes here.
    body?.cancel().catch(() => undefined)
    return ''
  }
  try {
    const text = await new Response(cutShort(body, patience.signal)).text()
    const message = messageIn(JSON.parse(text))
    return message === undefined ? '' : ` ("${message.slice(0, SAID_CHARS_MAX)}")`
  } catch {
    // Unreadable text adds nothing to the sentence.
    return ''
  }
}

/** A stream of events, as long as it stays within its limits. */
function guarded(body: ReadableStream<Uint8Array>, patience: Patience): ReadableStream<Uint8Array> {
  const measure = createLineMeter()
  let left = STREAM_BYTES_MAX
  return taken(body, patience.signal, (bytes) => {
    patience.heard()
    left -= bytes.length
    if (left < 0) throw tooLong()
    return measure(bytes) ? { last: bytes } : bytes
  })
}

function tooLong(): ProviderError {
  return new ProviderError(
    { kind: 'over-limit' },
    `The answer is longer than ${STREAM_BYTES_MAX / 1024 / 1024} MB, so it was not read to its end. Ask for less at once.`,
  )
}

/** The beginning of a refusal. If it is cut, or does not end in time, what arrived is all there is. */
function cutShort(body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const late = AbortSignal.timeout(REFUSAL_MS_MAX)
  let left = REFUSAL_BYTES_MAX
  return taken(body, AbortSignal.any([signal, late]), (bytes) => {
    const some = bytes.subarray(0, left)
    left -= some.length
    return left > 0 ? some : { last: some }
  })
}

type Take = (bytes: Uint8Array) => Uint8Array | { readonly last: Uint8Array }

/** Passes on what `take` makes of each piece, one at a time, and discards the rest. */
function taken(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  take: Take,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const letGo = (): void => void reader.cancel().catch(() => undefined)
  return new ReadableStream<Uint8Array>(
    {
      pull: async (to) => {
        try {
          const { done, value } = await unlessAborted(reader.read(), signal)
          if (done) return to.close()
          const next = take(value)
          if (next instanceof Uint8Array) return to.enqueue(next)
          to.enqueue(next.last)
          to.close()
          letGo()
        } catch (error) {
          letGo()
          // Only a refusal has a time limit of its own; what arrived by then is enough.
          if (error instanceof DOMException && error.name === 'TimeoutError') to.close()
          else to.error(error)
        }
      },
      cancel: letGo,
    },
    { highWaterMark: 0 },
  )
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'The server'
}
