import type { EntryId } from '../../transcript/entry.ts'
import { blockKey, type View, type ViewNode } from '../../transcript/view.ts'
import { isJsonObject, type Json } from '../../wire/json.ts'
import { isBlock, isThinking, type ToolUseBlock } from '../../wire/message.ts'

// Rounds that a later one made useless: the same file read again, the same search made again. They go whole, and only along with an
// edit that is made anyway.

/** Calls that change nothing, so that a later one of the same kind says all that an earlier one said, and newer. */
const READING = new Set(['read', 'read_file', 'view', 'grep', 'glob', 'search_files', 'list', 'ls'])

export interface SnipPlan {
  readonly drop: readonly EntryId[]
  readonly firstNode: number
  readonly raw: number
}

/** Superseded rounds before `limit` that a request has carried: answers of nothing but reading calls, each made again later. */
export function planSnip(view: View, rawBefore: readonly number[], limit: number): SnipPlan | undefined {
  const newestOf = newestCalls(view)
  const drop: EntryId[] = []
  let firstNode = view.nodes.length
  let raw = 0
  for (let i = 1; i < Math.min(limit, view.nodes.length) - 1; i++) {
    const [node, results] = [view.nodes[i], view.nodes[i + 1]]
    if (!node || !results || !isSuperseded(node, i, newestOf) || !answersOnly(node, results, view)) continue
    drop.push(...node.entries, ...results.entries)
    firstNode = Math.min(firstNode, i)
    raw += (rawBefore[i + 2] ?? 0) - (rawBefore[i] ?? 0)
  }
  return drop.length > 0 ? { drop, firstNode, raw } : undefined
}

/** The node of the newest call of each kind. */
function newestCalls(view: View): ReadonlyMap<string, number> {
  const newest = new Map<string, number>()
  for (const [i, node] of view.nodes.entries())
    for (const { block } of node.blocks) {
      const key = isBlock(block, 'tool_use') ? callKey(block) : undefined
      if (key !== undefined) newest.set(key, i)
    }
  return newest
}

/** What a reading call asks for. A file read whole stands for every part of it; a part only for the same part. */
function callKey({ name, input }: ToolUseBlock): string | undefined {
  const tool = name.toLowerCase()
  if (!READING.has(tool)) return undefined
  return `${tool} ${JSON.stringify(sorted(input))}`
}

function sorted(value: Json): Json {
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Nothing but thinking and reading calls, and each of them was made again later. */
function isSuperseded(node: ViewNode, index: number, newestOf: ReadonlyMap<string, number>): boolean {
  if (node.role !== 'assistant') return false
  let calls = 0
  for (const { block } of node.blocks) {
    if (isThinking(block)) continue
    const key = isBlock(block, 'tool_use') ? callKey(block) : undefined
    if (key === undefined || (newestOf.get(key) ?? 0) <= index) return false
    calls++
  }
  return calls > 0
}

/** Its results are all there is behind it: no error, no text of the user among them, none pinned. */
function answersOnly(node: ViewNode, results: ViewNode, view: View): boolean {
  return (
    results.answers === node.source.id &&
    results.blocks.every(
      ({ block, at }) =>
        isBlock(block, 'tool_result') && block.is_error !== true && !view.pinned.has(blockKey(at)),
    )
  )
}
