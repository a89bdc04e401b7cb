import { isBlock, toBlocks, type Block, type ToolResultBlock, type ToolUseBlock } from '../wire/message.ts'
import { RECALL_TOOL } from '../transcript/recall-tool.ts'
import { aboutOf } from './index-rows.ts'
import { leavesOf } from './texts-of.ts'

// What is being done says which of many places is meant: further queries beside the words that were asked for. The weights were measured:
// docs/recall.md.

export interface ContextQuery {
  readonly words: string
  /** Of what the words count that were asked for. */
  readonly weight: number
}

/** Calls and results that still say what the work is about. */
const STEPS = 3
const LAST_CALL_WEIGHT = 0.5
const INPUTS_WEIGHT = 0.5
const NAMES_WEIGHT = 0.4
const SAID_WEIGHT = 0.3
/** The end of what was said leads to what comes next. */
const SAID_CHARS_MAX = 600
/** An edit may hold a whole file; its beginning says which. */
const INPUT_CHARS_MAX = 600
/** The search takes no more terms than these have. */
const NAMES_MAX = 40
/** A name of code: `camelCase` or `snake_case`. */
const CODE_NAME = /[A-Za-z_][A-Za-z0-9_]{4,}/g
const IS_CODE_NAME = /[a-z][A-Z]|_/

/** Of the blocks of a conversation, in order: what the last call was about, all that the last calls were given, names in their results, and what was said last. */
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

/** By the user or the model. What programs add beside it stands in tags. */
function saidLast(blocks: readonly Block[]): string {
  for (let i = blocks.length - 1; i >= 0; i--) {
    const block = blocks[i]
    if (block && isBlock(block, 'text') && !block.text.trimStart().startsWith('<')) return block.text
  }
  return ''
}

/** The newest first, each once. */
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
