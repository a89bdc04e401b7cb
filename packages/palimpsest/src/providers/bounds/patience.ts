import { ProviderError } from '../../errors.ts'
import { ANSWER_TIMES, type AnswerTimesWishes } from './answer-limits.ts'

// How long to wait for an answer: while nothing comes, while what comes carries nothing, and in total.

/** A timer for longer than this fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

export interface Patience {
  /** Aborted when a time limit runs out, or with the caller's signal. */
  readonly signal: AbortSignal
  /** Call when bytes arrive. */
  readonly heard: () => void
  /** Call when they carry content. */
  readonly progressed: () => void
  /** The error to throw if a time limit ran out; undefined otherwise. */
  readonly ranOut: (cause: unknown) => ProviderError | undefined
  readonly end: () => void
}

export function createPatience(times: AnswerTimesWishes, outer: AbortSignal): Patience {
  const silentMsMax = times.silentMsMax ?? ANSWER_TIMES.silentMsMax
  const stuckMsMax = times.stuckMsMax ?? ANSWER_TIMES.stuckMsMax
  const wholeMsMax = times.wholeMsMax ?? ANSWER_TIMES.wholeMsMax
  const stop = new AbortController()
  let over: { readonly kind: 'stalled' | 'over-limit'; readonly text: string } | undefined
  const after = (ms: number, kind: 'stalled' | 'over-limit', text: string): (() => void) => {
    const run = (): ReturnType<typeof setTimeout> =>
      setTimeout(
        () => {
          over ??= { kind, text }
          stop.abort()
        },
        Math.min(ms, TIMER_MS_MAX),
      )
    let timer = run()
    ends.push(() => clearTimeout(timer))
    return () => {
      clearTimeout(timer)
      timer = run()
    }
  }
  const ends: (() => void)[] = []
  const heard = after(silentMsMax, 'stalled', `No answer came for ${seconds(silentMsMax)}.`)
  const progressed = after(
    stuckMsMax,
    'stalled',
    `The provider only kept the connection alive for ${seconds(stuckMsMax)}; no part of an answer came.`,
  )
  after(wholeMsMax, 'over-limit', `The answer was not complete after ${seconds(wholeMsMax)}.`)
  return {
    signal: AbortSignal.any([outer, stop.signal]),
    heard,
    progressed,
    ranOut: (cause) => over && new ProviderError({ kind: over.kind }, over.text, { cause }),
    end: () => {
      for (const end of ends) end()
    },
  }
}

function seconds(ms: number): string {
  const count = Math.round(ms / 1000)
  return `${count} ${count === 1 ? 'second' : 'seconds'}`
}

/** Reading a body does not always end with the request's signal: some transports deliver it independently. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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
