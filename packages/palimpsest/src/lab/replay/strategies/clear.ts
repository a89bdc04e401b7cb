import type { EditEntry } from '../../../transcript/entry.ts'
import type { ViewBlock } from '../../../transcript/view-block.ts'
import type { View } from '../../../transcript/view.ts'
import { isBlock, toBlocks, type ToolResultBlock, type ToolUseBlock } from '../../../wire/message.ts'
import { toViewBlock } from '../../../transcript/view-block.ts'
import type { JsonText } from '../../../wire/json.ts'
import type { Moment, StrategySettings } from './strategy.ts'

/** A tool result in view, with the call it answers. */
export interface ShownResult {
  readonly at: ViewBlock
  readonly result: ToolResultBlock
  readonly call: ToolUseBlock
  /** A request has carried it, so the model has seen it. */
  readonly isSeen: boolean
}

/** The results in view, in order, except those that a stand-in has replaced. */
export function shownResults(view: View): ShownResult[] {
  const calls = new Map<string, ToolUseBlock>()
  const results: ShownResult[] = []
  const newestAnswer = view.nodes.findLastIndex((node) => node.role === 'assistant')
  view.nodes.forEach((node, index) => {
    for (const at of node.blocks) {
      if (isBlock(at.block, 'tool_use')) calls.set(at.block.id, at.block)
      if (!isBlock(at.block, 'tool_result') || !at.original) continue
      const call = calls.get(at.block.tool_use_id)
      if (call) results.push({ at, result: at.block, call, isSeen: index < newestAnswer })
    }
  })
  return results
}

export function resultText(result: ToolResultBlock): string {
  return toBlocks(result.content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
}

/** One edit that replaces each result with a stand-in, except where the stand-in is not smaller. */
export function clearingEdit(
  results: readonly ShownResult[],
  standIn: (result: ShownResult) => JsonText,
  moment: Moment,
  settings: StrategySettings,
): EditEntry | undefined {
  let freedRaw = 0
  const replace = results.flatMap((one) => {
    const text = standIn(one)
    const freed = one.at.tokens - toViewBlock(one.at.at, text, false).tokens
    if (freed <= 0) return []
    freedRaw += freed
    return [{ at: one.at.at, with: [text] }]
  })
  if (replace.length === 0) return undefined
  return {
    kind: 'edit',
    id: settings.newId(),
    parent: null,
    at: moment.now,
    cause: 'batch',
    replace,
    drop: [],
    freedTokens: Math.round(moment.toTokens(freedRaw)),
  }
}
