import type { EntryBody, Session } from './session.ts'
import { interruptedResults } from './interrupted.ts'
import { sizeOf, type Sizing } from './size-of.ts'

// Before a request: the second moment. What must be appended so that the request is valid and fits, and whether it may be sent.

export interface RequestLimits extends Sizing {
  /** Tokens at which a request is refused rather than sent. */
  readonly blockingTokens: number
}

export interface BeforeRequest {
  readonly entries: readonly EntryBody[]
  /** The size of the request, before `entries`. */
  readonly tokens: number
  /** A sentence for the user, where the request may not be sent. */
  readonly blocked?: string
}

export function beforeRequest(session: Session, limits: RequestLimits): BeforeRequest {
  const entries = interruptedResults(session.view)
  const tokens = sizeOf(session.view, limits)
  if (tokens < limits.blockingTokens) return { entries, tokens }
  const blocked = `The conversation holds about ${tokens} tokens and the limit is ${limits.blockingTokens}. Compact it, or begin a new session.`
  return { entries, tokens, blocked }
}
