import { isOf } from '../../facts/tool-natures.ts'
import type { EntryId } from '../../transcript/entry.ts'
import { markNodes, unchangedSince, type NodesMark } from '../../transcript/unchanged-since.ts'
import type { ViewBlock } from '../../transcript/view-block.ts'
import { blockKey, type View, type ViewNode } from '../../transcript/view.ts'
import { isJsonObject, type Json } from '../../wire/json.ts'
import { isBlock, isThinking, type ToolUseBlock } from '../../wire/message.ts'
import { hasCalls, resultText } from './results-in-view.ts'

// Rounds that a later one made useless: the same file read again in full, or the same search made again. They leave whole, along with an
// edit that is made anyway, or when that pays.

/** Calls that change nothing, so a later call of the same kind says all that an earlier one said, and it is newer. */
const READING = ['read', 'list', 'search'] as const
/** Input members that make a read partial. */
const PART_KEYS: ReadonlySet<string> = new Set(['offset', 'limit', 'view_range', 'start_line', 'end_line'])

/** Readers show at most this many lines of a file, unless asked for others. */
const PAGE_LINES = 2_000

export interface SnipPlan {
  readonly drop: readonly EntryId[]
  readonly firstNode: number
  readonly raw: number
}

/** The nodes that may be removed: before `from` the prefix stays as it is, and the work in progress starts at `limit`. */
export interface SnipRange {
  readonly from: number
  readonly limit: number
}

/** Superseded rounds that a request has carried: answers with nothing but reading calls, each made again later. */
export function planSnip(
  view: View,
  rawBefore: readonly number[],
  { from, limit }: SnipRange,
): SnipPlan | undefined {
  if (!hasCalls(view.log)) return undefined
  const { newest: newestOf, isRepeated } = newestCalls(view)
  if (!isRepeated) return undefined
  const loop = runningLoop(view)
  const drop: EntryId[] = []
  let firstNode = view.nodes.length
  let raw = 0
  for (let i = Math.max(1, from); i < Math.min(limit, view.nodes.length) - 1; i++) {
    const [node, results] = [view.nodes[i], view.nodes[i + 1]]
    if (!node || !results || !isSuperseded(node, i, newestOf) || !answersOnly(node, results, view)) continue
    if (i > loop && node.blocks.some(({ block }) => isThinking(block))) continue
    drop.push(...node.entries, ...results.entries)
    firstNode = Math.min(firstNode, i)
    raw += (rawBefore[i + 2] ?? 0) - (rawBefore[i] ?? 0)
  }
  return drop.length > 0 ? { drop, firstNode, raw } : undefined
}

/** The prompt of the running tool loop: thinking after it is never touched. If no loop runs, the end. */
function runningLoop({ nodes }: View): number {
  if (nodes.at(-1)?.answers === undefined) return nodes.length
  return nodes.findLastIndex(({ role, answers }) => role === 'user' && answers === undefined)
}

interface Calls {
  looked: NodesMark
  /** Nodes whose calls are recorded. */
  read: number
  /** By call: the node where it last succeeded. */
  readonly newest: Map<string, number>
  /** Every call that was made, with or without success. */
  readonly asked: Set<string>
  /** Some call was made twice: only then can a round be superseded. */
  isRepeated: boolean
}

const calls = new WeakMap<readonly ViewNode[], Calls>()

/** Looks only at nodes added since; if others changed, at all. */
function newestCalls(view: View): Calls {
  const { nodes } = view
  const known = calls.get(nodes)
  const looked = markNodes(view)
  const isGrown = known !== undefined && unchangedSince(view, known.looked) === known.looked.nodes
  const found: Calls = isGrown
    ? known
    : { looked, read: 0, newest: new Map(), asked: new Set(), isRepeated: false }
  calls.set(nodes, found)
  found.looked = looked
  // The results of the last node are still to come.
  for (; found.read < nodes.length - 1; found.read++) {
    const node = nodes[found.read]
    if (node?.role !== 'assistant') continue
    for (const { block } of node.blocks)
      if (isBlock(block, 'tool_use')) noteCall(found, block, found.read, nodes[found.read + 1])
  }
  return found
}

function noteCall(found: Calls, call: ToolUseBlock, place: number, results: ViewNode | undefined): void {
  const { newest, asked } = found
  const { same, whole, isPart } = keysOf(call)
  if (same === undefined) return
  for (const key of whole === undefined ? [same] : [same, whole]) {
    found.isRepeated ||= asked.has(key)
    asked.add(key)
  }
  const result = resultOf(call.id, results)
  if (!result || isFailed(result)) return
  newest.set(same, place)
  if (whole !== undefined && !isPart && showsAll(result)) newest.set(whole, place)
}

/** The results of an answer are in the node right after it. */
function resultOf(id: string, node: ViewNode | undefined): ViewBlock | undefined {
  return node?.blocks.find(({ block }) => isBlock(block, 'tool_result') && block.tool_use_id === id)
}

/** A failed call does not replace what an earlier call said. */
function isFailed({ block }: ViewBlock): boolean {
  return isBlock(block, 'tool_result') && block.is_error === true
}

const shown = new WeakMap<ViewBlock, boolean>()

/** Neither a stand-in nor the first page of a longer file. */
function showsAll(one: ViewBlock): boolean {
  const known = shown.get(one)
  if (known !== undefined) return known
  const lines = one.original && isBlock(one.block, 'tool_result') ? resultText(one.block).split('\n') : []
  const isAll = lines.length > 0 && lines.length < PAGE_LINES && lines.at(-1)?.startsWith('[') !== true
  shown.set(one, isAll)
  return isAll
}

interface CallKeys {
  /** The exact call; absent if the tool does more than read. */
  readonly same?: string | undefined
  /** A read of the whole file; absent if the call reads none. */
  readonly whole?: string | undefined
  readonly isPart: boolean
}

const keys = new WeakMap<ToolUseBlock, CallKeys>()

/** What a reading call asks for. */
function keysOf(block: ToolUseBlock): CallKeys {
  const known = keys.get(block)
  if (known) return known
  const tool = block.name.toLowerCase()
  const whole = wholeKey(tool, block.input)
  const found: CallKeys = {
    same: isOf(tool, ...READING) ? `${tool} ${JSON.stringify(sorted(block.input))}` : undefined,
    whole,
    isPart: isPart(block.input),
  }
  keys.set(block, found)
  return found
}

/** A file read whole replaces every part of it; a part replaces only the same part. */
function wholeKey(tool: string, input: Json): string | undefined {
  if (!isOf(tool, 'read') || !isJsonObject(input)) return undefined
  const path = input['file_path'] ?? input['path']
  return typeof path === 'string' ? `${tool} whole ${path}` : undefined
}

function isPart(input: Json): boolean {
  return isJsonObject(input) && Object.keys(input).some((key) => PART_KEYS.has(key))
}

function sorted(value: Json): Json {
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The node has only thinking and reading calls, and each call was made again later. */
function isSuperseded(node: ViewNode, index: number, newestOf: ReadonlyMap<string, number>): boolean {
  if (node.role !== 'assistant') return false
  let calls = 0
  for (const { block } of node.blocks) {
    if (isThinking(block)) continue
    if (!isBlock(block, 'tool_use')) return false
    const { same = '', whole = '' } = keysOf(block)
    if (Math.max(newestOf.get(same) ?? 0, newestOf.get(whole) ?? 0) <= index) return false
    calls++
  }
  return calls > 0
}

/** Only its results follow: no error and no user text among them, and none pinned. */
function answersOnly(node: ViewNode, results: ViewNode, view: View): boolean {
  return (
    results.answers === node.source.id &&
    results.blocks.every(
      ({ block, at }) =>
        isBlock(block, 'tool_result') && block.is_error !== true && !view.pinned.has(blockKey(at)),
    )
  )
}
