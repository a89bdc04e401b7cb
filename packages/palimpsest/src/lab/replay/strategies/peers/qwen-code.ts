import { isClearableTool } from '../../../../layers/2-micro-compaction/clearable-tools.ts'
import { standIn } from '../../../../layers/2-micro-compaction/stand-in.ts'
import type { View } from '../../../../transcript/view.ts'
import { clearingEdit, resultText, shownResults, type ShownResult } from '../clear.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from '../strategy.ts'
import { idleMs } from './idle.ts'
import { createPeer } from './peer.ts'
import { recentFiles } from './recent-files.ts'

// Numbers from docs/peers/qwen-code.md.

const TRIGGER_SHARE = 0.85
const SUMMARY_ROOM = 20_000
const AUTO_ROOM = 13_000

const IDLE_MS = 60 * 60_000
const TOOL_CHARS_MAX = 500_000
const TOOL_CHARS_TARGET = TOOL_CHARS_MAX / 2
const KEEP_RESULTS = 5

const RESTORED = { filesMax: 5, tokensEach: 5_000 }

export const qwenCode: Strategy = createPeer({
  name: 'qwen-code',
  triggerTokens,
  reduce: clearOld,
  keeps: (seen) => recentFiles(seen, RESTORED),
  call: { kind: 'fork' },
})

/** If the window is too small for both rooms, only the share counts. */
function triggerTokens({ windowTokens }: StrategySettings): number {
  const share = TRIGGER_SHARE * windowTokens
  const below = windowTokens - SUMMARY_ROOM - AUTO_ROOM
  return below > 0 ? Math.min(share, below) : share
}

/** After a pause, clears all results except the newest; with too much tool text, the oldest, down to half the limit. */
function clearOld(view: View, moment: Moment, settings: StrategySettings): Actions {
  const results = shownResults(view).filter(({ call }) => isClearableTool(call.name))
  const old = results
    .slice(0, -KEEP_RESULTS)
    .filter(({ isSeen, result }) => isSeen && result.is_error !== true)
  const due = idleMs(view, moment) >= IDLE_MS ? old : overSize(results, old)
  const edit = clearingEdit(due, ({ result }) => standIn(result), moment, settings)
  return edit ? { entries: [edit] } : NO_ACTIONS
}

function overSize(results: readonly ShownResult[], old: readonly ShownResult[]): readonly ShownResult[] {
  let chars = results.reduce((sum, { result }) => sum + resultText(result).length, 0)
  if (chars <= TOOL_CHARS_MAX) return []
  return old.filter(({ result }) => {
    if (chars <= TOOL_CHARS_TARGET) return false
    chars -= resultText(result).length
    return true
  })
}
