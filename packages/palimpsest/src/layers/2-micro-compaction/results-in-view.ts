import { everInLog } from '../../transcript/ever-in-log.ts'
import type { ViewBlock } from '../../transcript/view-block.ts'
import { blockKey, type View, type ViewNode } from '../../transcript/view.ts'
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
  const newestAnswer = view.nodes.findLastIndex((node) => node.role === 'assistant')
  const found: ClearableResult[] = []
  for (let index = 0; index < view.nodes.length; index++) {
    const node = view.nodes[index]
    if (node?.role !== 'user') continue
    for (const { block, result, call } of answeredIn(node, view.nodes[index - 1])) {
      if (!mayClear(call.name)) continue
      const pinned = view.pinned.size > 0 && view.pinned.has(blockKey(block.at))
      found.push({ node: index, block, result, call, sent: index < newestAnswer, pinned })
    }
  }
  return found
}

type Answered = Pick<ClearableResult, 'block' | 'result' | 'call'>

const answered = new WeakMap<ViewNode, { readonly before: ViewNode; readonly found: readonly Answered[] }>()

/** The results of an answer stand right behind it. A node that changes is a new one, so each is looked at once. */
function answeredIn(node: ViewNode, before: ViewNode | undefined): readonly Answered[] {
  if (!before) return []
  const known = answered.get(node)
  if (known?.before === before) return known.found
  const found = node.blocks.flatMap((block): Answered[] => {
    const result = block.block
    if (!isBlock(result, 'tool_result') || result.is_error === true || !isLiveText(result)) return []
    const call = callIn(before, result.tool_use_id)
    return call && !readsStandingFile(call) ? [{ block, result, call }] : []
  })
  answered.set(node, { before, found })
  return found
}

function callIn({ blocks }: ViewNode, id: string): ToolUseBlock | undefined {
  for (const { block } of blocks) if (isBlock(block, 'tool_use') && block.id === id) return block
  return undefined
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
