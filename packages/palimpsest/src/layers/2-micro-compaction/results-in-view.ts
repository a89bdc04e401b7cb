import { everInLog } from '../../transcript/ever-in-log.ts'
import type { ViewBlock } from '../../transcript/view-block.ts'
import { blockKey, type View } from '../../transcript/view.ts'
import { isBlock, toBlocks, type ToolResultBlock, type ToolUseBlock } from '../../wire/message.ts'
import { isClearableTool } from './clearable-tools.ts'
import { CLEARED_TEXT } from './stand-in.ts'
import { readsStandingFile } from './standing-files.ts'

/** A tool result that may be cleared, with the call it answers. */
export interface ClearableResult {
  readonly node: number
  readonly block: ViewBlock
  readonly result: ToolResultBlock
  readonly call: ToolUseBlock
  /** A request has carried it: the model has seen it. */
  readonly sent: boolean
  readonly pinned: boolean
}

/** Where no tool was ever called, there is nothing to look for. */
export const hasCalls = everInLog(
  (entry) =>
    entry.kind === 'message' && toBlocks(entry.message.content).some((block) => isBlock(block, 'tool_use')),
)

/**
 * Results of clearable tools in order of appearance. Left out: those cleared already, errors, results with anything but text in them,
 * and what instruction files say.
 */
export function clearableResults(
  view: View,
  mayClear: (tool: string) => boolean = isClearableTool,
): ClearableResult[] {
  if (!hasCalls(view.log)) return []
  const calls = new Map<string, ToolUseBlock>()
  const newestAnswer = view.nodes.findLastIndex((node) => node.role === 'assistant')
  const found: ClearableResult[] = []
  for (const [index, node] of view.nodes.entries()) {
    for (const block of node.blocks) {
      if (isBlock(block.block, 'tool_use')) calls.set(block.block.id, block.block)
      if (!isBlock(block.block, 'tool_result')) continue
      const result = block.block
      const call = calls.get(result.tool_use_id)
      if (!call || !mayClear(call.name) || result.is_error === true || !isLiveText(result)) continue
      if (readsStandingFile(call)) continue
      const pinned = view.pinned.has(blockKey(block.at))
      found.push({ node: index, block, result, call, sent: index < newestAnswer, pinned })
    }
  }
  return found
}

export function resultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content
  return toBlocks(content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
}

function isLiveText({ content }: ToolResultBlock): boolean {
  if (content === undefined) return false
  if (typeof content === 'string') return !content.startsWith(CLEARED_TEXT)
  return content.every((block) => isBlock(block, 'text'))
}
