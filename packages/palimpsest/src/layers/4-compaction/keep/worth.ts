import { readCall, type ReadCall } from '../../../facts/read-call.ts'
import { isOf } from '../../../facts/tool-natures.ts'
import type { ViewBlock } from '../../../transcript/view-block.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'
import { isBlock, type ToolUseBlock } from '../../../wire/message.ts'
import { isUserNode } from './tail.ts'

// What a message is worth to the steps that follow, per token, as recorded sessions show it: how much of what later steps took from the
// environment, and of the lines that later edits relied on, was in results and calls of each kind and age. The text itself is not read.

/** Worth per thousand tokens when new. It is divided by (1 + age / AGE_TOKENS) to the power of `fall`. */
interface Kind {
  readonly worth: number
  readonly fall: number
}

/** The newest read of a file that was not changed since: most of what edits need. */
const READ: Kind = { worth: 0.7, fall: 0.5 }
/** A read of a file that was changed since. */
const STALE_READ: Kind = { worth: 0.1, fall: 0.3 }
/** A read of a file that was read whole again: the later read says it all. */
const REPEATED_READ: Kind = { worth: 0, fall: 0 }
const SEARCH: Kind = { worth: 1.1, fall: 1 }
const SHELL: Kind = { worth: 0.3, fall: 1.2 }
const EDIT: Kind = { worth: 0.8, fall: 0.6 }
/** The whole of a file, until it is changed: it is edited again soon, or never. */
const WRITE: Kind = { worth: 0.9, fall: 1 }
const AGENT: Kind = { worth: 0.7, fall: 0.3 }
const OTHER: Kind = { worth: 0.3, fall: 1.5 }

/** How many tokens must follow in the view for worth to fall by 2 to the power of `fall`. A property of the work, not of the window. */
const AGE_TOKENS = 4_000
/** The user has said something since: the work may have moved on. */
const EARLIER_TURN = 0.4
/** Only the first tokens of a command's output count, whatever its length. */
const SHELL_TOKENS = 1_200
/** Most of a longer read is not needed. */
const LONG_READ_TOKENS = 8_000
const LONG_READ = 0.35

export const SEARCH_COMMAND = /^\s*(?:cd [^&;]+&&\s*)?(?:rg|grep|find|ls|fd|git (?:grep|ls-files))\b/

interface Call extends ReadCall {
  readonly node: number
  /** Equal for calls that repeat each other. */
  readonly key: string
  readonly whole: boolean
}

/** Worth of each node in the view. */
export function worthOf(view: View, toTokens: (raw: number) => number): number[] {
  const calls = callsOf(view)
  const newest = newestTouches(calls)
  const worth = view.nodes.map(() => 0)
  let age = 0
  let turn = 1
  for (let i = view.nodes.length - 1; i >= 0; i--) {
    const node = view.nodes[i]
    if (!node) continue
    if (isUserNode(node)) turn = EARLIER_TURN
    for (const block of node.blocks.toReversed()) {
      const tokens = toTokens(block.tokens)
      const kind = kindOf(block, node, calls, newest)
      const fallen = kind ? kind.worth * (1 + age / AGE_TOKENS) ** -kind.fall : 0
      worth[i] = (worth[i] ?? 0) + (fallen * turn * usefulTokens(kind, tokens)) / 1_000
      age += tokens
    }
  }
  return worth
}

function callsOf({ nodes }: View): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>()
  for (const [node, { blocks }] of nodes.entries())
    for (const { block } of blocks) if (isBlock(block, 'tool_use')) calls.set(block.id, toCall(block, node))
  return calls
}

function toCall(block: ToolUseBlock, node: number): Call {
  const input = JSON.stringify(block.input)
  return {
    ...readCall(block),
    node,
    key: `${block.name} ${input}`,
    whole: !/"(?:offset|limit|start_line|end_line|view_range)":/.test(input),
  }
}

interface Touches {
  /** By file: the node of the last change, and of the last whole read. */
  readonly changed: ReadonlyMap<string, number>
  readonly read: ReadonlyMap<string, number>
  /** By key: the node of the last such call. */
  readonly asked: ReadonlyMap<string, number>
}

function newestTouches(calls: ReadonlyMap<string, Call>): Touches {
  const changed = new Map<string, number>()
  const read = new Map<string, number>()
  const asked = new Map<string, number>()
  for (const { node, key, whole, family, reads, changes } of calls.values()) {
    asked.set(key, node)
    for (const { path } of changes) changed.set(fileKey(path), node)
    if (family === 'read' && whole) for (const path of reads) read.set(fileKey(path), node)
  }
  return { changed, read, asked }
}

/** An agent may name a file in several ways; these agree in the last two parts. */
function fileKey(path: string): string {
  return path.split('/').slice(-2).join('/')
}

function kindOf(
  { block, original }: ViewBlock,
  node: ViewNode,
  calls: ReadonlyMap<string, Call>,
  newest: Touches,
): Kind | undefined {
  if (isBlock(block, 'tool_use')) return callKind(calls.get(block.id), newest)
  // A stand-in says little, or is short.
  if (!original) return undefined
  if (isBlock(block, 'tool_result')) return resultKind(calls.get(block.tool_use_id), newest)
  const { origin } = node.source
  return origin === 'tool' || origin === 'web' || origin === 'mcp' ? READ : undefined
}

function callKind(call: Call | undefined, newest: Touches): Kind | undefined {
  if (!call || call.changes.length === 0) return undefined
  const writes = call.changes.every(({ operation }) => operation === 'written' || operation === 'created')
  return writes && !call.changes.some(({ path }) => isLater(newest.changed, path, call)) ? WRITE : EDIT
}

function resultKind(call: Call | undefined, newest: Touches): Kind {
  if (!call) return OTHER
  if (call.changes.length > 0) return EDIT
  if (call.reads.length > 0) return readKind(call, newest)
  if (isOf(call.tool, 'search', 'list')) return SEARCH
  if (isOf(call.tool, 'agent')) return AGENT
  if (call.family === 'shell')
    return call.command !== undefined && SEARCH_COMMAND.test(call.command) ? SHELL_SEARCH : SHELL
  return OTHER
}

const SHELL_SEARCH: Kind = { worth: 0.35, fall: 0.9 }

function readKind(call: Call, newest: Touches): Kind {
  const repeated =
    (newest.asked.get(call.key) ?? 0) > call.node ||
    call.reads.some((path) => isLater(newest.read, path, call))
  if (repeated) return REPEATED_READ
  return call.reads.some((path) => isLater(newest.changed, path, call)) ? STALE_READ : READ
}

function isLater(touched: ReadonlyMap<string, number>, path: string, { node }: Call): boolean {
  return (touched.get(fileKey(path)) ?? -1) > node
}

function usefulTokens(kind: Kind | undefined, tokens: number): number {
  if (kind === SHELL || kind === SHELL_SEARCH) return Math.min(tokens, SHELL_TOKENS)
  return kind === READ && tokens > LONG_READ_TOKENS ? tokens * LONG_READ : tokens
}
