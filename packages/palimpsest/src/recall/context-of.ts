import { isBlock, toBlocks, type Block, type ToolResultBlock, type ToolUseBlock } from '../wire/message.ts'
import { RECALL_TOOL } from '../transcript/recall-tool.ts'
import { aboutOf } from './index-rows.ts'
import { leavesOf } from './texts-of.ts'

// The current work shows which of many places is meant: it adds further queries to the words of the search. The weights were measured:
// docs/recall.md.

export interface ContextQuery {
  readonly words: string
  /** Weight relative to the words of the search. */
  readonly weight: number
}

/** How many calls and results still show what the work is about. */
const STEPS = 3
const LAST_CALL_WEIGHT = 0.5
const INPUTS_WEIGHT = 0.5
const NAMES_WEIGHT = 0.4
const SAID_WEIGHT = 0.3
/** The end of what was said leads to what comes next. */
const SAID_CHARS_MAX = 600
/** An edit may contain a whole file; its beginning shows which one. */
const INPUT_CHARS_MAX = 600
/** The search uses no more terms than this. */
const NAMES_MAX = 40
/** A name in code: `camelCase` or `snake_case`. */
const CODE_NAME = /[A-Za-z_][A-Za-z0-9_]{4,}/g
const IS_CODE_NAME = /[a-z][A-Z]|_/

/**
 * From the blocks of a conversation, in order: what the last call was about, all inputs of the last calls, names in their results, and what
 * was said last.
 */
export function contextOf(blocks: readonly Block[]): readonly ContextQuery[] {
  const calls: ToolUseBlock[] = []
  const results: ToolResultBlock[] = []
  for (let i = blocks.length - 1; i >= 0 && (calls.length < STEPS || results.length < STEPS); i--) {
    const block = blocks[i]
    if (!block) continue
    if (isBlock(block, 'tool_use') && block.name !== RECALL_TOOL) calls.push(block)
    if (isBlock(block, 'tool_result')) results.push(block)
  }
  const inputs = calls
    .slice(0, STEPS)
    .map(({ input }) => leavesOf(input).join('\n').slice(0, INPUT_CHARS_MAX))
  const queries = [
    { words: aboutOf(calls[0]?.input), weight: LAST_CALL_WEIGHT },
    { words: inputs.join(' '), weight: INPUTS_WEIGHT },
    { words: namesIn(results.slice(0, STEPS)).join(' '), weight: NAMES_WEIGHT },
    { words: saidLast(blocks).slice(-SAID_CHARS_MAX), weight: SAID_WEIGHT },
  ]
  return queries.filter(({ words }) => words.trim() !== '')
}

/** By the user or the model. Text that programs add is in tags. */
function saidLast(blocks: readonly Block[]): string {
  for (let i = blocks.length - 1; i >= 0; i--) {
    const block = blocks[i]
    if (block && isBlock(block, 'text') && !block.text.trimStart().startsWith('<')) return block.text
  }
  return ''
}

/** Newest first, each once. */
function namesIn(results: readonly ToolResultBlock[]): readonly string[] {
  const names = new Set<string>()
  for (const { content = '' } of results)
    for (const part of toBlocks(content)) {
      if (!isBlock(part, 'text')) continue
      for (const [name] of part.text.matchAll(CODE_NAME)) {
        if (IS_CODE_NAME.test(name)) names.add(name)
        if (names.size >= NAMES_MAX) return [...names]
      }
    }
  return [...names]
}
