import { ProviderError } from '../errors.ts'
import type { Ports } from '../ports.ts'
import { retryWaitMs, TURN_RETRIES } from '../request/retry-policy.ts'
import type { LoopEvent } from './events.ts'

// Retries. Waits are announced, can be cancelled, and end.

export interface Attempts<T> {
  readonly ask: (attempt: number) => AsyncGenerator<LoopEvent, T>
  /** Voids the newest attempt. Returns whether any of its answer was shown. */
  readonly discard: () => boolean
}

/** Asks until it succeeds or asking again is no use. What a failed attempt showed is declared void. */
export async function* withRetries<T>(
  { ask, discard }: Attempts<T>,
  ports: Pick<Ports, 'clock' | 'random' | 'trace'>,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return yield* ask(attempt)
    } catch (error) {
      if (signal.aborted || !(error instanceof ProviderError)) throw error
      const waitMs = retryWaitMs(error.failure, attempt, TURN_RETRIES, ports.random())
      if (waitMs === undefined) throw error
      if (discard()) yield { type: 'answer-discarded', reason: error.message }
      ports.trace({ name: 'retry', reason: error.failure.kind, attempt, waitMs })
      yield { type: 'retry-wait', waitMs, attempt, reason: error.message }
      await ports.clock.sleep(waitMs, signal)
    }
  }
}
