import type { CallResult, ForkCall, ToolForkPorts } from '../background/run-tool-fork.ts'
import { step, type View } from '../transcript/view.ts'
import { prepareCall, runCall, toBatches, type CallOutcome, type CallSetup } from './run-call.ts'

// Runs a fork's calls by the rules of a turn: readers in parallel, writers in order. What they show stays in the fork: its view is a copy
// of the parent's, which learns what the fork reads.

/** Most characters of one result: a fork stores none on disk, and all of them must fit after the conversation. */
export const FORK_RESULT_CHARS_MAX = 24_000

export interface ForkCallSetup extends CallSetup {
  /** What the parent's model saw when the fork began. Pass a copy (`copyView`): the fork changes it. */
  readonly view: View
}

/** Returns one result per call. After an abort no further batch starts. */
export function createForkCalls(setup: ForkCallSetup): ToolForkPorts['runCalls'] {
  let { view } = setup
  let shown = 0
  const learn = ({ output: { content, files, origin = 'tool' } }: CallOutcome): void => {
    if (!files || files.length === 0) return
    const message = { role: 'user', content: typeof content === 'string' ? content : [...content] } as const
    const place = { id: `fork-${shown++}`, parent: view.leaf, at: view.log.at(-1)?.at ?? 0 }
    view = step(view, { kind: 'message', ...place, message, json: JSON.stringify(message), origin, files })
  }
  return async (calls, signal) => {
    const results: CallResult[] = []
    for (const batch of toBatches(callsOf(calls, setup))) {
      if (signal.aborted) break
      const outcomes = await Promise.all(batch.map((call) => runCall(call, view, setup, signal)))
      for (const outcome of outcomes) {
        learn(outcome)
        results.push({ content: bounded(outcome.output.content), isError: outcome.output.isError })
      }
    }
    return results
  }
}

function callsOf(calls: readonly ForkCall[], { tools }: CallSetup) {
  const unreadable = new Set(calls.flatMap(({ use, isUnreadable }) => (isUnreadable ? [use.id] : [])))
  return calls.map(({ use }) => prepareCall(use, unreadable, tools))
}

function bounded(content: CallResult['content']): CallResult['content'] {
  if (typeof content !== 'string' || content.length <= FORK_RESULT_CHARS_MAX) return content
  const left = content.length - FORK_RESULT_CHARS_MAX
  return `${content.slice(0, FORK_RESULT_CHARS_MAX)}\n[${left} more characters are left out. Ask for a part of it.]`
}
