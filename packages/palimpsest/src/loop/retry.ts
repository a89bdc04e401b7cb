import { ProviderError } from '../errors.ts'
import type { Ports } from '../ports.ts'
import { retryWaitMs, TURN_RETRIES } from '../request/retry-policy.ts'
import type { LoopEvent } from './events.ts'

// Asking again. Waits are announced, can be cancelled, and end.

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
      const waitMs = retryWaitMs(error.failure, attempt, TURN_RETRIES, ports.random())
      if (waitMs === undefined) throw error
      if (shown) yield { type: 'answer-discarded', reason: error.message }
      ports.trace({ name: 'retry', reason: error.failure.kind, attempt, waitMs })
      yield { type: 'retry-wait', waitMs, attempt, reason: error.message }
      await ports.clock.sleep(waitMs, signal)
    }
  }
}
