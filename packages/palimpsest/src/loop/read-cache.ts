import { breakpointPlaces } from '../request/breakpoint-places.ts'
import type { CacheLifetimes } from '../request/build-request.ts'
import type { CacheReading, CacheWatch } from '../accounts/cache-watch.ts'
import { clearedTokens } from '../situation/server-edits.ts'
import type { Session } from '../situation/session.ts'
import type { Ports, TraceEvent } from '../ports.ts'
import { factorOf, type Calibration } from '../tokens/calibrate.ts'
import { settle, type ThinkingPolicy } from '../transcript/settle.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { promptTokens } from '../wire/usage.ts'
import type { AnsweredRequest } from './collect-response.ts'
import type { LoopEvent } from './events.ts'

/** Compares what the request read with what it must have read. The session is still the one that was sent. */
export function* readCache(
  { session, calibration }: { readonly session: Session; readonly calibration: Calibration },
  { response, startedAt }: AnsweredRequest,
  setup: {
    readonly cacheWatch?: CacheWatch | undefined
    readonly ports: Pick<Ports, 'clock' | 'trace' | 'flags'>
    readonly lifetimes: CacheLifetimes
    readonly thinking: ThinkingPolicy
    readonly facts: ModelFacts
  },
): Generator<LoopEvent> {
  const { cacheWatch, ports, lifetimes, thinking, facts } = setup
  // Where the provider told nothing that can be true, there is nothing to compare.
  if (!cacheWatch || promptTokens(response.usage) === 0) return
  const { view } = session
  const settled = settle(view, thinking)
  const factor = factorOf(calibration)
  cacheWatch.sent({
    view,
    settled,
    places: breakpointPlaces(view, settled),
    lifetimes,
    facts,
    at: startedAt,
    toTokens: (raw) => raw * factor,
  })
  const diagnosis = response.diagnostics?.cache_miss_reason
  const reading = cacheWatch.answered({
    usage: response.usage,
    at: ports.clock.now(),
    diagnosis,
    clearedTokens: clearedTokens(response.context_management),
  })
  const isTold = ports.flags.value('cache-break-detection')
  ports.trace(traceOf(reading, isTold))
  if (reading.break && isTold) yield { type: 'cache-break', break: reading.break }
}

function traceOf(reading: CacheReading, isTold: boolean): TraceEvent {
  const { expectedTokens, readTokens, inputTokens, break: broken, fall, effect } = reading
  const numbers = { expectedTokens, readTokens, inputTokens }
  if (broken && isTold) return { name: 'cache-break', reason: broken.cause, path: broken.path, ...numbers }
  const event = { name: 'cache-read', ...(fall ? { reason: fall } : {}), ...numbers }
  if (!effect) return event
  const { freedTokens, expectedRewriteTokens, realisedRewriteTokens, expectedUsd, realisedUsd } = effect
  return { ...event, freedTokens, expectedRewriteTokens, realisedRewriteTokens, expectedUsd, realisedUsd }
}
