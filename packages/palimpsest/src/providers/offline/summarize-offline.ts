import type { WireMessage } from '../../wire/message.ts'
import { sessionFacts } from './extract/session-facts.ts'
import { writeSummary } from './extract/write-summary.ts'

/** A summary by extraction: nothing in it was not said or done in the conversation. */
export function summarizeOffline(messages: readonly WireMessage[]): string {
  return writeSummary(sessionFacts(messages))
}
