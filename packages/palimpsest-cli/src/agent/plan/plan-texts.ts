import type { Entry, MessageEntry, View } from 'palimpsest/transcript'
import { isBlock, toBlocks } from 'palimpsest/wire'

import type { PermissionMode } from '../permissions/permission-mode.ts'

// What a conversation is told about plan mode and its plan. This comes at the end of the conversation, never in system or tools, so that
// the prefix stays the same when the mode changes. Its state is read from its own messages: after a rewind or a compaction, what it still
// shows counts.

const ON = '<plan-mode>'
const OFF = '<plan-mode-over>'

export function planModeText(path: string): string {
  return `${ON}
Plan mode is on: the user wants to see a plan before anything changes. Reading, searching and commands that only read work; every other call is refused, also for agents. One file can be written: ${path}. Use it for the plan if it grows over several steps.
Find out what the change needs, and ask with AskUser where a decision is the user's. When the plan is complete, hand it in with ExitPlanMode: the user reads it there and decides. Do not ask for approval in words. If nothing has to change, for a question, just answer.
</plan-mode>`
}

const UNASKED: { readonly [mode in Exclude<PermissionMode, 'plan'>]: string } = {
  default: 'the user is asked before files change',
  'accept-edits': 'files in the working folders change without a question',
  bypass: 'nothing is asked',
}

export function planModeOverText(mode: Exclude<PermissionMode, 'plan'>, path: string | undefined): string {
  const where = path === undefined ? '' : ` The plan is in ${path}.`
  return `${OFF}
Plan mode is over: changes are possible again, and ${UNASKED[mode]}.${where}
</plan-mode-over>`
}

/** Whether the conversation, as the model sees it, says that plan mode is on. */
export function isToldPlanMode(view: Pick<View, 'nodes'>): boolean {
  return planNewsIn(view)?.isOn ?? false
}

/** What the conversation was last told about plan mode, and in which message. */
export function planNewsIn({
  nodes,
}: Pick<View, 'nodes'>): { readonly isOn: boolean; readonly id: string } | undefined {
  for (const { source, blocks } of nodes.toReversed()) {
    if (source.origin !== 'engine') continue
    const [first] = blocks
    const text = first && isBlock(first.block, 'text') ? first.block.text : ''
    if (text.startsWith(ON)) return { isOn: true, id: source.id }
    if (text.startsWith(OFF)) return { isOn: false, id: source.id }
  }
  return undefined
}

export type PlanState = 'draft' | 'approved'

export const APPROVED = 'The user approved the plan.'

export interface ShownPlan {
  readonly text: string
  readonly state: PlanState
  /** Plan mode is on. */
  readonly isOn: boolean
  readonly path: string
}

/** For use after a compaction. */
export function planAgainText({ text: plan, state, isOn, path }: ShownPlan): string {
  const open = isOn
    ? 'The user has not approved it yet: it may be incomplete, and nothing of it is carried out.'
    : 'The user ended plan mode without being asked about it: what the user said since decides whether it is carried out.'
  const about = state === 'approved' ? 'The user approved it.' : open
  return `<plan state="${state}">\nThe plan of this conversation, from ${path}. ${about}\n\n${plan}\n</plan>`
}

const AGAIN = /^<plan state="(draft|approved)">/

/** The state of the plan according to the conversation. Undefined: it has no plan. */
export function planStateIn(log: readonly Entry[], path: string): PlanState | undefined {
  let state: PlanState | undefined
  for (const entry of log) {
    if (entry.kind !== 'message') continue
    const text = firstText(entry)
    const [, again] = entry.part === 'attachment' ? (AGAIN.exec(text) ?? []) : []
    if (again !== undefined) state = again === 'approved' ? 'approved' : 'draft'
    const file = entry.files?.find((one) => one.path === path)
    if (!file) continue
    if (text.startsWith(APPROVED)) state = 'approved'
    // An edit that ticks off a step of an approved plan leaves it approved; a completely new text does not.
    else if (file.how === 'written') state = 'draft'
    else state ??= 'draft'
  }
  return state
}

/** First text of the message, or of the tool result that it contains. */
function firstText({ message }: MessageEntry): string {
  const [first] = toBlocks(message.content)
  if (first && isBlock(first, 'text')) return first.text
  if (!first || !isBlock(first, 'tool_result')) return ''
  const [inner] = toBlocks(first.content)
  return inner && isBlock(inner, 'text') ? inner.text : ''
}
