import type { WireMessage } from '../../wire/message.ts'
import { sessionFacts } from './extract/session-facts.ts'
import { writeSummary } from './extract/write-summary.ts'

/** A summary by extraction, with at most `charsMax` characters: it contains only what was said or done in the conversation. */
export function summarizeOffline(messages: readonly WireMessage[], charsMax = Infinity): string {
  return writeSummary(sessionFacts(messages), charsMax)
}
