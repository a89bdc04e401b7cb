import { isBlock, toBlocks } from '../../wire/message.ts'
import type { MessageEntry } from '../../transcript/entry.ts'
import { responseOf, type ReplaySession, type ReplayStep } from './replay-session.ts'

/**
 * The same rounds and messages, last first. Nobody worked in this order: what a step used is then, if anywhere, in what came later.
 * A measure that rewards something other than keeping what will be used would rate it as high as the true order.
 */
export function reverseSession(session: ReplaySession): ReplaySession {
  const steps = new Map(session.steps.map((step) => [step.responseId, step]))
  const entries: MessageEntry[] = []
  const reversed: ReplayStep[] = []
  for (const unit of unitsOf(session).toReversed()) {
    const first = unit[0]
    const step = first && first.message.role === 'assistant' ? steps.get(responseOf(first)) : undefined
    // The reported prompt sizes do not apply to another order, so none continues from the step before.
    if (step && entries.length > 0) reversed.push({ ...step, from: entries.length, afterGap: true })
    entries.push(...unit)
  }
  return { ...session, entries, steps: reversed }
}

/** An answer's lines with the results of its calls, or one other message. */
function unitsOf(session: ReplaySession): MessageEntry[][] {
  const units: MessageEntry[][] = []
  const byResponse = new Map<string, MessageEntry[]>()
  const byCall = new Map<string, MessageEntry[]>()
  for (const entry of session.entries) {
    const blocks = toBlocks(entry.message.content)
    const isAnswer = entry.message.role === 'assistant'
    const answers = blocks.find((block) => isBlock(block, 'tool_result'))?.tool_use_id ?? ''
    const known = isAnswer ? byResponse.get(responseOf(entry)) : byCall.get(answers)
    const unit = known ?? []
    if (!known) units.push(unit)
    unit.push(entry)
    if (isAnswer) byResponse.set(responseOf(entry), unit)
    for (const block of blocks) if (isBlock(block, 'tool_use')) byCall.set(block.id, unit)
  }
  return units
}
