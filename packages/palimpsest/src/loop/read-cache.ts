import type { CacheReading, CacheWatch } from '../accounts/cache-watch.ts'
import type { Ports, TraceEvent } from '../ports.ts'
import { clearedTokens, promptTokens } from '../wire/usage.ts'
import type { AnsweredRequest } from './answers/collect-response.ts'
import type { LoopEvent } from './events.ts'

/** Compares what the request read with what it should have read, according to the quote from before it was sent. */
export function* readCache(
  { response, startedAt }: Pick<AnsweredRequest, 'response' | 'startedAt'>,
  setup: {
    readonly cacheWatch?: CacheWatch | undefined
    readonly ports: Pick<Ports, 'clock' | 'trace' | 'flags'>
  },
): Generator<LoopEvent> {
  const { cacheWatch, ports } = setup
  // If the provider reported nothing plausible, there is nothing to compare.
  if (!cacheWatch || promptTokens(response.usage) === 0) return
  const diagnosis = response.diagnostics?.cache_miss_reason
  const reading = cacheWatch.answered({
    usage: response.usage,
    sentAt: startedAt,
    at: ports.clock.now(),
    diagnosis,
    clearedTokens: clearedTokens(response.context_management),
  })
  const isTold = reading.break !== undefined && ports.flags.value('cache-break-detection')
  ports.trace(traceOf(reading, isTold))
  if (reading.break && isTold) yield { type: 'cache-break', break: reading.break }
}

function traceOf(reading: CacheReading, isTold: boolean): TraceEvent {
  const { expectedTokens, readTokens, inputTokens, break: broken, fall, effect } = reading
  const numbers = { expectedTokens, readTokens, inputTokens }
  if (broken && isTold) return { name: 'cache-break', reason: broken.cause, path: broken.path, ...numbers }
  const event = { name: 'cache-read', reason: fall, ...numbers }
  if (!effect) return event
  const { freedTokens, expectedRewriteTokens, realisedRewriteTokens, expectedUsd, realisedUsd } = effect
  return { ...event, freedTokens, expectedRewriteTokens, realisedRewriteTokens, expectedUsd, realisedUsd }
}
