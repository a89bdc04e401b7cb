import type { JsonText } from '../../../../wire/json.ts'
import { clearingEdit, shownResults, type ShownResult } from '../clear.ts'
import { FALLBACK_SHARE, planDrop } from '../drop-oldest.ts'
import { NO_ACTIONS, type Strategy } from '../strategy.ts'

// Numbers from docs/peers/server-clear.md.

/** For a full-size window; scaled, because a user sets it for the window in use. */
const TRIGGER_TOKENS = 100_000
const KEEP_USES = 3
const CLEARED_TEXT = '[cleared]'

/** For every request the provider clears again, judged by the size of the full history that the client sends. */
export const serverClear: Strategy = {
  name: 'server-clear',
  create(settings) {
    const trigger = TRIGGER_TOKENS * settings.scale
    let freedRaw = 0
    return {
      before(view, moment) {
        const sentTokens = moment.sizeTokens + moment.toTokens(freedRaw)
        if (sentTokens <= trigger) return NO_ACTIONS
        const old = shownResults(view)
          .slice(0, -KEEP_USES)
          .filter((one) => one.isSeen)
        const edit = clearingEdit(old, cleared, moment, settings)
        if (!edit) return planDrop(view, moment, settings, FALLBACK_SHARE)
        freedRaw += edit.freedTokens / moment.toTokens(1)
        return { entries: [{ ...edit, cause: 'server' }] }
      },
    }
  },
}

function cleared({ result }: ShownResult): JsonText {
  const { tool_use_id: id } = result
  return JSON.stringify({ type: 'tool_result', tool_use_id: id, content: CLEARED_TEXT })
}
