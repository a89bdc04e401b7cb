import { factsOf } from '../../../facts/facts-of.ts'
import { readCall } from '../../../facts/read-call.ts'
import type { View } from '../../../transcript/view.ts'
import { isBlock } from '../../../wire/message.ts'

// What shows the current state, whichever part of a conversation is compacted: the newest result of each command that failed and has not
// succeeded since, and the newest to-do list. Without them the model would believe an older success or an older list.

/** Most open errors that stay; the summary has the others. */
const ERRORS_MAX = 5

/** Each as an answer with its results, by index; the most important first. */
export function openRounds(view: View): readonly (readonly number[])[] {
  const { errors } = factsOf(view)
  const failed = errors.slice(-ERRORS_MAX).toReversed()
  const answers = [
    newestList(view),
    ...failed.map(({ entry }) => view.nodes.findIndex(({ entries }) => entries.includes(entry))),
  ]
  return [...new Set(answers)].filter((index) => index >= 0).map((index) => roundAt(view, index))
}

function newestList({ nodes }: View): number {
  return nodes.findLastIndex(({ blocks }) =>
    blocks.some(({ block }) => isBlock(block, 'tool_use') && readCall(block).todos !== undefined),
  )
}

function roundAt({ nodes }: View, index: number): readonly number[] {
  return nodes[index + 1]?.answers === undefined ? [index] : [index, index + 1]
}
