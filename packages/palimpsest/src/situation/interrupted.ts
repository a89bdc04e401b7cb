import type { MessageEntry } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { messageBody, type EntryBody } from './session.ts'

const INTERRUPTED =
  'Interrupted: this call did not finish and has no result. It may have had effects; check before repeating it.'

/** Gives every tool use without a result one that says so. Stored like any other message: the view makes up no text. */
export function interruptedResults(view: View): EntryBody<MessageEntry>[] {
  return [...view.open.keys()].map((toolUseId) =>
    messageBody(
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: toolUseId, content: INTERRUPTED, is_error: true }],
      },
      'engine',
      { part: 'interrupted' },
    ),
  )
}

const STOPPED_HERE =
  '[The answer above was stopped here, before it was complete. No tool that it would have called was run.]'

/** Comes after an answer that was stopped, so that the model knows what the user saw. */
export function stoppedNote(): EntryBody<MessageEntry> {
  return messageBody({ role: 'user', content: STOPPED_HERE }, 'engine', { part: 'interrupted' })
}
