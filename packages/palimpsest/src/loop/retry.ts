import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { Ports } from '../ports.ts'
import type { LoopEvent } from './events.ts'

// Asking again. Waits are announced, can be cancelled, and end.

/** Attempts for one request, the first included: about two minutes of waiting. */
export const ATTEMPTS_MAX = 8
/** An answer that is garbage is seldom better later. */
export const BAD_OUTPUT_ATTEMPTS_MAX = 3
/** A server on this machine that is being started again is there within a second or two, or not at all. */
const UNREACHABLE_ATTEMPTS_MAX = 3
/** Each attempt waited for minutes already. */
const STALLED_ATTEMPTS_MAX = 2
const FIRST_WAIT_MS = 500
const WAIT_MS_MAX = 32_000
/** A provider may ask for patience, but not for an hour without a word. */
const RETRY_AFTER_MS_MAX = 300_000
/** Waits are shortened by up to this share, so that many clients do not come back at once. */
const SPREAD = 0.25

/** How long to wait before attempt number `attempt + 1`; undefined where asking again is no use. */
export function retryWaitMs(failure: ProviderFailure, attempt: number, random: number): number | undefined {
  if (attempt >= attemptsMax(failure)) return undefined
  switch (failure.kind) {
    case 'rate-limited':
    case 'overloaded':
    case 'transport': {
      if (failure.retryAfterMs === undefined) return backoffMs(attempt, random)
      return failure.retryAfterMs <= RETRY_AFTER_MS_MAX ? failure.retryAfterMs : undefined
    }
    case 'bad-output':
    case 'stalled':
    case 'unreachable':
      return backoffMs(attempt, random)
    case 'context-overflow':
    case 'unauthorized':
    case 'unusable-address':
    case 'invalid-request':
    case 'over-budget':
    case 'over-limit':
      return undefined
    default:
      return failure satisfies never
  }
}

function attemptsMax({ kind }: ProviderFailure): number {
  if (kind === 'bad-output') return BAD_OUTPUT_ATTEMPTS_MAX
  if (kind === 'stalled') return STALLED_ATTEMPTS_MAX
  return kind === 'unreachable' ? UNREACHABLE_ATTEMPTS_MAX : ATTEMPTS_MAX
}

/** Runs `ask` until it succeeds or asking again is no use. What a failed attempt had shown is declared void. */
export async function* withRetries<T>(
  ask: (attempt: number) => AsyncGenerator<LoopEvent, T>,
  ports: Pick<Ports, 'clock' | 'random' | 'trace'>,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, T> {
  for (let attempt = 1; ; attempt++) {
    let shown = false
    try {
      const events = ask(attempt)
      for (let next = await events.next(); ; next = await events.next()) {
        if (next.done) return next.value
        shown ||= next.value.type.endsWith('-delta')
        yield next.value
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof ProviderError)) throw error
      const waitMs = retryWaitMs(error.failure, attempt, ports.random())
      if (waitMs === undefined) throw error
      if (shown) yield { type: 'answer-discarded', reason: error.message }
      ports.trace({ name: 'retry', reason: error.failure.kind, attempt, waitMs })
      yield { type: 'retry-wait', waitMs, attempt, reason: error.message }
      await ports.clock.sleep(waitMs, signal)
    }
  }
}

function backoffMs(attempt: number, random: number): number {
  const wait = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), WAIT_MS_MAX)
  return Math.round(wait * (1 - SPREAD * random))
}
