import { familyOf } from '../../../../facts/read-call.ts'
import type { View } from '../../../../transcript/view.ts'
import { isBlock, isThinking, toBlocks, type Block } from '../../../../wire/message.ts'
import { clearingEdit, resultText, shownResults, type ShownResult } from '../clear.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from '../strategy.ts'
import { createPeer } from './peer.ts'
import { newestRounds, type PeerSight } from './peer-sight.ts'

// Numbers from docs/peers/cline.md.

/** Trigger as a share of the input limit, and the input limit as a share of the window, for when only the window is known. */
const TRIGGER_SHARE = 0.9
const INPUT_SHARE = 0.9
const CHARS_PER_TOKEN = 3
const KEEP_TOKENS = 20_000
const RESULT_CHARS_MAX = 2_000
/** Stale reads are rewritten once they have this many characters. */
const STALE_CHARS_MIN = 64 * 1024
const OUTDATED_TEXT = '[outdated - see the latest file content]'

export const cline: Strategy = createPeer({
  name: 'cline',
  triggerTokens: ({ windowTokens }) => TRIGGER_SHARE * INPUT_SHARE * windowTokens,
  count: estimated,
  reduce: rewriteStaleReads,
  keeps: (seen) => [...newestRounds(seen, KEEP_TOKENS), ...latestPrompt(seen)],
  call: { kind: 'alone', resultCharsMax: RESULT_CHARS_MAX },
})

/** It counts characters instead of using reported usage. Thinking is not sent again, and a picture has no characters. */
function estimated({ nodes }: View, { hiddenTokens }: Moment): number {
  let tokens = hiddenTokens
  for (const { blocks } of nodes)
    for (const { block, json, tokens: raw } of blocks) {
      if (isThinking(block)) continue
      tokens += hasMedia(block) ? raw : json.length / CHARS_PER_TOKEN
    }
  return tokens
}

function hasMedia(block: Block): boolean {
  const parts = isBlock(block, 'tool_result') ? toBlocks(block.content ?? '') : [block]
  return parts.some((part) => isBlock(part, 'image') || isBlock(part, 'document'))
}

function latestPrompt({ rounds }: PeerSight): readonly number[] {
  const latest = rounds.findLastIndex((round) => round.isUser)
  return latest < 0 ? [] : [latest]
}

/** Rewrites reads that a later read of the same file and range repeats. */
function rewriteStaleReads(view: View, moment: Moment, settings: StrategySettings): Actions {
  const reads = shownResults(view).filter(({ call }) => familyOf(call.name) === 'read')
  const newest = new Map(reads.map((one) => [JSON.stringify(one.call.input), one]))
  const stale = reads.filter((one) => one.isSeen && newest.get(JSON.stringify(one.call.input)) !== one)
  const chars = stale.reduce((sum, { result }) => sum + resultText(result).length, 0)
  if (chars < STALE_CHARS_MIN) return NO_ACTIONS
  const edit = clearingEdit(stale, outdated, moment, settings)
  return edit ? { entries: [edit] } : NO_ACTIONS
}

function outdated({ result }: ShownResult): string {
  const { tool_use_id: id } = result
  return JSON.stringify({ type: 'tool_result', tool_use_id: id, content: OUTDATED_TEXT })
}
