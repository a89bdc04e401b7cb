import type { View } from '../../../../transcript/view.ts'
import { clearingEdit, resultText, shownResults, type ShownResult } from '../clear.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from '../strategy.ts'
import { createPeer } from './peer.ts'
import { reportedSize, type PeerSight } from './peer-sight.ts'

// Numbers from docs/peers/gemini-cli.md.

const TRIGGER_SHARE = 0.5
/** Share of the characters that stays. */
const KEEP_SHARE = 0.3

const MASK_PROTECT_TOKENS = 50_000
const MASK_TOKENS_MIN = 30_000
const MASK_PREVIEW_CHARS = 250
const MASK_EXEMPT = new Set(['activate_skill', 'ask_user', 'enter_plan_mode', 'exit_plan_mode'])

export const geminiCli: Strategy = createPeer({
  name: 'gemini-cli',
  triggerTokens: ({ windowTokens }) => TRIGGER_SHARE * windowTokens,
  count: reportedSize,
  reduce: maskOld,
  keeps: fromUserTurn,
  call: { kind: 'alone', isChecked: true },
})

/** Masks the results before the protected newest ones, all at once, if there are enough of them. */
function maskOld(view: View, moment: Moment, settings: StrategySettings): Actions {
  let protect = MASK_PROTECT_TOKENS
  const old: ShownResult[] = []
  for (const one of shownResults(view).toReversed()) {
    if (!one.isSeen || MASK_EXEMPT.has(one.call.name)) continue
    protect -= moment.toTokens(one.at.tokens)
    if (protect < 0) old.push(one)
  }
  const tokens = moment.toTokens(old.reduce((sum, one) => sum + one.at.tokens, 0))
  if (tokens < MASK_TOKENS_MIN) return NO_ACTIONS
  const edit = clearingEdit(old.toReversed(), masked, moment, settings)
  return edit ? { entries: [edit] } : NO_ACTIONS
}

function masked({ result }: ShownResult): string {
  const text = resultText(result)
  const preview = `${text.slice(0, MASK_PREVIEW_CHARS)}\n…\n${text.slice(-MASK_PREVIEW_CHARS)}`
  const content = `[Masked; ${text.length} characters are in tool-outputs/${result.tool_use_id}.txt]\n${preview}`
  const error = result.is_error === undefined ? {} : { is_error: result.is_error }
  return JSON.stringify({ type: 'tool_result', tool_use_id: result.tool_use_id, content, ...error })
}

/** From the first user message in the newest part on; if that has none, from the newest one before it. */
function fromUserTurn({ view, rounds }: PeerSight): readonly number[] {
  const chars = rounds.map(({ from, end }) =>
    view.nodes
      .slice(from, end)
      .flatMap((node) => node.blocks)
      .reduce((sum, block) => sum + block.json.length, 0),
  )
  const target = chars.reduce((sum, one) => sum + one, 0) * (1 - KEEP_SHARE)
  let before = 0
  let first = 0
  for (const [index, round] of rounds.entries()) {
    if (round.isUser) first = index
    if (round.isUser && before >= target) break
    before += chars[index] ?? 0
  }
  return rounds.flatMap((_, index) => (index >= first ? [index] : []))
}
