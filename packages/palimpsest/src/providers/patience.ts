import { ProviderError } from '../errors.ts'

// How long a silent provider is waited for.

/** Without a byte for so long, not even a ping, the answer will not come. */
export const IDLE_MS_MAX = 300_000

export interface Patience {
  readonly signal: AbortSignal
  readonly ranOut: () => boolean
  readonly watch: <T>(body: ReadableStream<T>) => AsyncIterable<T>
  readonly end: () => void
}

/** Aborts when nothing has come for too long, or when the caller does. */
export function createPatience(idleMsMax: number, outer: AbortSignal): Patience {
  const idle = new AbortController()
  let timer = setTimeout(() => idle.abort(), idleMsMax)
  const restart = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => idle.abort(), idleMsMax)
  }
  const signal = AbortSignal.any([outer, idle.signal])
  return {
    signal,
    ranOut: () => idle.signal.aborted,
    end: () => clearTimeout(timer),
    watch: async function* (body) {
      const reader = body.getReader()
      try {
        for (;;) {
          const { done, value } = await unlessAborted(reader.read(), signal)
          if (done) return
          restart()
          yield value
        }
      } finally {
        // Whoever sends on hears of it; that it failed to hear changes nothing here.
        reader.cancel().catch(() => undefined)
      }
    },
  }
}

/** A body does not always end with the request's signal: some transports deliver it on their own. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
  }
}

export function stalled(idleMsMax: number, cause: unknown): ProviderError {
  const seconds = Math.round(idleMsMax / 1000)
  return new ProviderError({ kind: 'transport' }, `No answer came for ${seconds} seconds.`, { cause })
}
