import { messageBody, type EntryBody } from '../../situation/session.ts'
import type { Entry, MessageEntry } from '../../transcript/entry.ts'
import { FORK_MARK } from '../../transcript/fork-mark.ts'
import { isBlock, toBlocks } from '../../wire/message.ts'

// A fork begins where its parent called for it: with the parent's whole last answer, and the same text as the result of each of its calls,
// whichever call this fork is. So all forks of one answer send the same bytes up to their directive.

/** The result of every call of the answer that a fork begins with. */
export const PLACEHOLDER =
  'This call is carried out elsewhere. You are a fork of this conversation; your own task follows.'

/** Where a fork separates from its parent. */
export interface ForkStart {
  /** The parent's entries, up to and including the answer that calls for forks. */
  readonly entries: readonly Entry[]
  /** Id of that answer: the same for all forks that it calls for. */
  readonly answer: string
  /** After the entries: results of all calls, the same for each fork. */
  readonly placeholders: EntryBody<MessageEntry>
}

/** Undefined if the call is not in the log. */
export function findForkStart(log: readonly Entry[], toolUseId: string): ForkStart | undefined {
  const usesOf = (entry: Entry | undefined): readonly string[] =>
    entry?.kind === 'message' && entry.message.role === 'assistant'
      ? toBlocks(entry.message.content).flatMap((block) => (isBlock(block, 'tool_use') ? [block.id] : []))
      : []
  const place = log.findLastIndex((entry) => usesOf(entry).includes(toolUseId))
  const answer = log[place]
  if (!answer) return undefined
  const content = usesOf(answer).map((id) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: PLACEHOLDER,
  }))
  return {
    entries: log.slice(0, place + 1),
    answer: answer.id,
    placeholders: messageBody({ role: 'user', content }, 'engine'),
  }
}

/** What the fork is to do: the only bytes that differ from fork to fork. */
export function forkDirective(prompt: string): string {
  return `${FORK_MARK}
You are a fork of this conversation. You know all of it; nobody there sees what you do. Do the task below and nothing else, and fork no further. Your last message is your report, the only thing that goes back: it must stand by itself. Begin with the result, name places as path:line, and say what you did not do.

Task: ${prompt}`
}
