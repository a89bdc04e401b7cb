import type { EditEntry } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { voidedBy } from '../transcript/voided.ts'
import type { AppliedContextManagement } from '../wire/response.ts'
import { clearedTokens } from '../wire/usage.ts'
import type { EntryBody } from './session.ts'

// What the provider cleared from a request, as an entry. It changes no bytes of ours: the history is sent in full, and the provider clears
// the same again. So each answer reports everything that is cleared, and only the increase is new.

export function serverEdits(
  view: View,
  applied: AppliedContextManagement | null | undefined,
): EntryBody<EditEntry>[] {
  const cleared = clearedTokens(applied)
  if (cleared === 0) return []
  const freedTokens = cleared - recordedTokens(view)
  return freedTokens > 0 ? [{ kind: 'edit', cause: 'server', replace: [], drop: [], freedTokens }] : []
}

/** Since the newest boundary: what comes before it is not sent. */
function recordedTokens({ log }: View): number {
  const voided = voidedBy(log)
  const start = log.findLastIndex((entry) => entry.kind === 'boundary' && !voided.has(entry.id))
  return log
    .slice(start + 1)
    .reduce(
      (sum, entry) => sum + (entry.kind === 'edit' && entry.cause === 'server' ? entry.freedTokens : 0),
      0,
    )
}
