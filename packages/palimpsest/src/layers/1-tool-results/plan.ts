import type { ViewBlock } from '../../transcript/view-block.ts'
import type { View } from '../../transcript/view.ts'
import { isBlock, toBlocks, type Block, type ToolResultBlock } from '../../wire/message.ts'
import type { StoragePolicy } from './policy.ts'

// Which results go to disk. Decided once, before the model has seen a result; what was sent whole stays whole.

/** A result that is to be stored. */
export interface StorePlan {
  readonly result: ToolResultBlock
  readonly text: string
}

/** As a result arrives: over its tool's own limit. */
export function planArrival(
  result: ToolResultBlock,
  resultCharsMax: number | 'unlimited' | undefined,
  policy: StoragePolicy,
): StorePlan | undefined {
  if (resultCharsMax === 'unlimited') return undefined
  const text = storableText(result)
  const charsMax = Math.min(resultCharsMax ?? policy.resultCharsMax, policy.resultCharsMax)
  return text !== undefined && text.length > charsMax ? { result, text } : undefined
}

/** Before a request: the results that answer one response share a room; the largest go until they fit. */
export function planShare(view: View, policy: StoragePolicy): StorePlan[] {
  const unsent = unsentResults(view)
  let chars = unsent.reduce((sum, { text }) => sum + text.length, 0)
  const plans: StorePlan[] = []
  for (const { result, text } of unsent.toSorted((a, b) => b.text.length - a.text.length)) {
    if (chars <= policy.answerCharsMax || text.length <= policy.previewBytes) break
    plans.push({ result, text })
    chars -= text.length - policy.previewBytes
  }
  return plans
}

/**
 * Guard of the next request: whatever tool made them, the largest results that were not sent yet go until `excessTokens` is made up,
 * so that no answer's calls can overflow the window.
 */
export function planGuard(
  view: View,
  excessTokens: number,
  toTokens: (raw: number) => number,
  policy: StoragePolicy,
): StorePlan[] {
  const plans: StorePlan[] = []
  let left = excessTokens
  for (const { result, text, block } of unsentResults(view).toSorted(
    (a, b) => b.block.tokens - a.block.tokens,
  )) {
    if (left <= 0 || text.length <= policy.previewBytes) break
    plans.push({ result, text })
    left -= toTokens(block.tokens) * (1 - policy.previewBytes / text.length)
  }
  return plans
}

interface UnsentResult extends StorePlan {
  readonly block: ViewBlock
}

/** Results that no request has carried: those behind the newest answer. */
function unsentResults(view: View): UnsentResult[] {
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  return view.nodes.slice(newest + 1).flatMap((node) =>
    node.blocks.flatMap((block) => {
      if (!block.original || !isBlock(block.block, 'tool_result')) return []
      const text = storableText(block.block)
      return text === undefined ? [] : [{ result: block.block, text, block }]
    }),
  )
}

/** The text of a result; undefined where it holds anything but text, which is left alone. */
function storableText({ content }: ToolResultBlock): string | undefined {
  const texts: string[] = []
  for (const block of toBlocks(content)) {
    if (!isText(block)) return undefined
    texts.push(block.text)
  }
  return texts.join('\n')
}

function isText(block: Block): block is Extract<Block, { type: 'text' }> & { readonly text: string } {
  return isBlock(block, 'text')
}
