import type { EntryBody, Session } from './session.ts'
import { interruptedResults } from './interrupted.ts'

// Before a request: the second moment. What must be appended so that the request is valid and fits, and whether it may be sent.

export interface RequestLimits {
  readonly blockingTokens: number
}

export interface BeforeRequest {
  readonly entries: readonly EntryBody[]
  /** A sentence for the user, where the request may not be sent. */
  readonly blocked?: string
}

export function beforeRequest(session: Session, _limits: RequestLimits): BeforeRequest {
  return { entries: interruptedResults(session.view) }
}
