import { cutRefusals } from '../bounds/bounded-fetch.ts'
import { createClient, loadSdk, type AnthropicOptions } from './create-model.ts'

// `GET /v1/models`: which models there are and how much they accept. One request, bounded in time and size, that follows no redirect: the
// key is for this address only.

export type ModelList =
  /** The body as it came, whatever it contains. */
  | { readonly kind: 'list'; readonly body: unknown }
  /** This endpoint does not support it. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly reason: string }

/** Rejects only when aborted. */
export type ListModels = (signal: AbortSignal) => Promise<ModelList>

/** The largest page size. */
const PAGE_MODELS = 1_000
const BYTES_MAX = 1_000_000
const ANSWER_MS_MAX = 10_000
const ABSENT: ReadonlySet<number> = new Set([404, 405, 501])

export function createListModels(options: AnthropicOptions): ListModels {
  return async (signal) => {
    try {
      const client = createClient(await loadSdk(), options, cutRefusals(options.fetch ?? fetch))
      const response = await client
        .get('/v1/models', {
          query: { limit: PAGE_MODELS },
          signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
          fetchOptions: { redirect: 'error' },
        })
        .asResponse()
      const text = await readBounded(response)
      return text === undefined
        ? { kind: 'failed', reason: `the list is larger than ${BYTES_MAX} bytes` }
        : { kind: 'list', body: JSON.parse(text) }
    } catch (error) {
      signal.throwIfAborted()
      const status = error instanceof Error && 'status' in error ? error.status : undefined
      if (typeof status === 'number' && ABSENT.has(status)) return { kind: 'absent' }
      return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) }
    }
  }
}

/** Undefined if it is too long; the rest is not read. */
async function readBounded({ body }: Response): Promise<string | undefined> {
  const decoder = new TextDecoder()
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader()
  let text = ''
  let bytes = 0
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    bytes += next.value.byteLength
    if (bytes > BYTES_MAX) {
      await reader?.cancel()
      return undefined
    }
    text += decoder.decode(next.value, { stream: true })
  }
  return text
}
