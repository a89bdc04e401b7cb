import type { WireMessage } from '../../wire/message.ts'
import { sessionFacts } from './extract/session-facts.ts'
import { writeSummary } from './extract/write-summary.ts'

/** A summary by extraction, of at most so many characters: nothing in it was not said or done in the conversation. */
export function summarizeOffline(messages: readonly WireMessage[], charsMax = Infinity): string {
  return writeSummary(sessionFacts(messages), charsMax)
}
