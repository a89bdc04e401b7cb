import type { CallResult, ForkCall } from '../background/run-tool-fork.ts'
import type { View } from '../transcript/view.ts'
import { prepareCall, runCall, toBatches, type CallSetup } from './run-call.ts'

// The calls of a fork, by the rules of a turn: readers side by side, writers in order. The results stay in the fork.

/** Of one result: a fork stores none on disk, and all of them must fit behind the conversation. */
export const FORK_RESULT_CHARS_MAX = 24_000

export interface ForkCallSetup extends CallSetup {
  /** What the parent's model saw when the fork began. */
  readonly view: View
}

/** One result for each call. After an abort no further batch starts. */
export async function runForkCalls(
  calls: readonly ForkCall[],
  setup: ForkCallSetup,
  signal: AbortSignal,
): Promise<readonly CallResult[]> {
  const unreadable = new Set(calls.flatMap(({ use, isUnreadable }) => (isUnreadable ? [use.id] : [])))
  const batches = toBatches(calls.map(({ use }) => prepareCall(use, unreadable, setup.tools)))
  const results: CallResult[] = []
  for (const batch of batches) {
    if (signal.aborted) break
    const outcomes = await Promise.all(batch.map((call) => runCall(call, setup.view, setup, signal)))
    for (const { output } of outcomes)
      results.push({ content: bounded(output.content), isError: output.isError })
  }
  return results
}

function bounded(content: CallResult['content']): CallResult['content'] {
  if (typeof content !== 'string' || content.length <= FORK_RESULT_CHARS_MAX) return content
  const left = content.length - FORK_RESULT_CHARS_MAX
  return `${content.slice(0, FORK_RESULT_CHARS_MAX)}\n[${left} more characters are left out. Ask for a part of it.]`
}
