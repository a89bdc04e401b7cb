import { describeView, type ViewDescription } from '../../run/describe-view.ts'
import type { Conversation } from './open-conversation.ts'

/** What fills the window of a conversation now. */
export function describeConversation({ prepared, view, totals }: Conversation): ViewDescription {
  const { reading, prefix, ports } = prepared.run
  const seen = view()
  const model = seen.prefix?.model ?? prefix.model
  return describeView(seen, { model, reading, totals: totals(), now: ports.clock.now() })
}
