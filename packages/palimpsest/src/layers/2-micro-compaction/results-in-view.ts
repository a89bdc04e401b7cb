import { everInLog } from '../../transcript/ever-in-log.ts'
import { markNodes, unchangedSince, type NodesMark } from '../../transcript/unchanged-since.ts'
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
  /** A request has carried it, so the model has seen it. */
  readonly sent: boolean
  readonly pinned: boolean
}

/** If no tool was ever called, there is nothing to look for. */
export const hasCalls = everInLog(
  (entry) =>
    entry.kind === 'message' && toBlocks(entry.message.content).some((block) => isBlock(block, 'tool_use')),
)

/**
 * Results of clearable tools in order of appearance. Without: results that are cleared already, errors, results with anything but text in
 * them, and reads of instruction files.
 */
export function clearableResults(
  view: View,
  mayClear: (tool: string) => boolean = isClearableTool,
): ClearableResult[] {
  if (!hasCalls(view.log)) return []
  const { nodes, pinned } = view
  const scan = scanOf(view, mayClear)
  const newestAnswer = nodes.findLastIndex((node) => node.role === 'assistant')
  // If the newest answer left, or anything is or was pinned, every result is checked again.
  const isAsBefore = newestAnswer >= scan.newestAnswer && pinned.size === 0 && !scan.hasPins
  const { found } = scan
  for (let i = isAsBefore ? scan.sent : 0; i < found.length; i++) {
    const one = found[i]
    if (!one) continue
    const sent = one.node < newestAnswer
    const isPinned = pinned.size > 0 && pinned.has(blockKey(one.block.at))
    if (one.sent !== sent || one.pinned !== isPinned) found[i] = { ...one, sent, pinned: isPinned }
  }
  scan.newestAnswer = newestAnswer
  scan.hasPins = pinned.size > 0
  scan.sent = found.findLastIndex(({ sent }) => sent) + 1
  return found.slice()
}

interface Scan {
  readonly mayClear: (tool: string) => boolean
  looked: NodesMark
  readonly found: ClearableResult[]
  /** State at the last call: the newest answer, whether anything was pinned, and how many of the found results a request had carried. */
  newestAnswer: number
  hasPins: boolean
  sent: number
}

const scans = new WeakMap<readonly ViewNode[], Scan>()
const NOTHING_LOOKED_AT: NodesMark = { nodes: 0, changes: 0 }

/** Looks only at nodes from the first that changed. */
function scanOf(view: View, mayClear: Scan['mayClear']): Scan {
  const { nodes } = view
  const known = scans.get(nodes)
  const scan = known?.mayClear === mayClear ? known : newScan(mayClear)
  scans.set(nodes, scan)
  const { found } = scan
  const from = unchangedSince(view, scan.looked)
  scan.looked = markNodes(view)
  while ((found.at(-1)?.node ?? -1) >= from) found.pop()
  scan.sent = Math.min(scan.sent, found.length)
  for (let index = from; index < nodes.length; index++) {
    const node = nodes[index]
    if (node?.role !== 'user') continue
    for (const one of answeredIn(node, nodes[index - 1]))
      if (mayClear(one.call.name)) found.push({ node: index, ...one, sent: false, pinned: false })
  }
  return scan
}

function newScan(mayClear: Scan['mayClear']): Scan {
  return { mayClear, looked: NOTHING_LOOKED_AT, found: [], newestAnswer: -1, hasPins: false, sent: 0 }
}

type Answered = Pick<ClearableResult, 'block' | 'result' | 'call'>

/** The results of an answer are in the node right after it. */
function answeredIn(node: ViewNode, before: ViewNode | undefined): readonly Answered[] {
  if (!before) return []
  return node.blocks.flatMap((block): Answered[] => {
    const result = block.block
    if (!isBlock(result, 'tool_result') || result.is_error === true || !isLiveText(result)) return []
    const call = callIn(before, result.tool_use_id)
    return call && !readsStandingFile(call) ? [{ block, result, call }] : []
  })
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
