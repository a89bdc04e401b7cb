import type { Entry, EntryId } from '../transcript/entry.ts'
import { isDirective } from '../transcript/fork-mark.ts'
import type { Settled } from '../transcript/settle.ts'
import type { ViewBlock } from '../transcript/view-block.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import { voidedBy } from '../transcript/voided.ts'
import type { Hash } from '../wire/hash.ts'
import { isBlock, SERVER_RESULT_TYPES } from '../wire/message.ts'

// Where the breakpoints of a request are in its messages. The API allows four; the first is at the end of `system`, these are the rest.
// All of it follows from the view, so the same transcript gives the same request.

/** A block, by the node that it is in. */
export interface BreakpointPlace {
  readonly node: number
  readonly block: number
  /** `anchor`: what the next edit leaves. `end`: of this request, or of the one before. */
  readonly slot: 'anchor' | 'end'
}

/**
 * At most three, in order: the anchor, the known end, the new end. Right after an edit: the anchor before it, the anchor, the new end.
 *
 * The known end is a certain read, however many blocks came since. The anchor is where the next edit will begin: each request renews its
 * entry for free, so it is there when an edit has made every later one useless. It must be written with the request that follows its edit:
 * later it is part of what is read, and nothing is written there.
 */
export function breakpointPlaces(view: View, settled: Settled): readonly BreakpointPlace[] {
  // What only one fork says is in no other request: the others read up to what they share.
  const shared = settled.texts.length - (isDirective(view.nodes.at(-1)) ? 1 : 0)
  const end = findPlace(settled, shared, 'end')
  if (!end) return []
  const { before, anchor } = findAnchors(view)
  const known = findKnownEnd(view, settled)
  const isGoingOn = known > anchor
  const first = findPlace(settled, Math.min(isGoingOn ? anchor : before, end.node), 'anchor')
  const second = findPlace(
    settled,
    Math.min(isGoingOn ? known : anchor, end.node),
    isGoingOn ? 'end' : 'anchor',
  )
  const places = [...(first ? [first] : []), ...(second ? [second] : [])]
  return [...places, end].filter((place, i, all) => place.node !== all[i + 1]?.node)
}

/**
 * The newest answer that was made under exactly what comes before it now: an entry was written where its request ended.
 * Computed from the bytes, so it is also correct after an undo, a rewind, and a boundary that keeps the head.
 */
function findKnownEnd({ nodes }: View, settled: Settled): number {
  const { chains } = settled
  const known = knownEnds.get(settled)
  const isSame = known !== undefined && chains[known.nodes] === known.chain
  let end = isSame ? known.end : -1
  for (let i = nodes.length - 1; i >= (isSame ? known.nodes : 0); i--) {
    const node = nodes[i]
    if (node?.role !== 'assistant' || node.source.under === undefined || node.source.under !== chains[i])
      continue
    end = i
    break
  }
  knownEnds.set(settled, { nodes: nodes.length, chain: chains[nodes.length], end })
  return end
}

/** Found for this many nodes, after which the chain was this one. While that holds, only nodes added since are checked. */
interface KnownEnd {
  readonly nodes: number
  readonly chain: Hash | undefined
  readonly end: number
}

const knownEnds = new WeakMap<Settled, KnownEnd>()

interface Anchors {
  readonly before: number
  readonly anchor: number
}

/**
 * The first node that an edit may still change, as it is now and as it was before the newest edit. No edit changes what comes before the
 * first answer.
 */
function findAnchors(view: View): Anchors {
  const first = view.nodes.findIndex((node) => node.role === 'assistant')
  const [newest, older] = newestEdits(view.log).map((edited) => afterEdit(edited, view.nodes))
  const anchor = Math.max(first, newest ?? first)
  return { before: Math.min(anchor, Math.max(first, older ?? first)), anchor }
}

/** The messages that an edit put stand-ins into. */
interface Edited {
  readonly entries: ReadonlySet<EntryId>
  /** The last node of these messages when we last looked. */
  node: number
}

interface Scan {
  readonly read: number
  readonly edits: readonly Edited[]
}

const scans = new WeakMap<readonly Entry[], Scan>()

/**
 * Edits in force since the last boundary, newest first, at most two. A log only grows, and an undo creates a new one, so only new entries
 * are read.
 */
function newestEdits(log: readonly Entry[]): readonly Edited[] {
  const known = scans.get(log)
  const voided = known ? undefined : voidedBy(log)
  let edits = known?.edits ?? []
  for (let i = known?.read ?? 0; i < log.length; i++) {
    const entry = log[i]
    if (!entry || voided?.has(entry.id)) continue
    if (entry.kind === 'boundary') edits = []
    // An edit of the cache is in a message that was not sent yet: nothing before it changed.
    if (entry.kind !== 'edit' || entry.cause === 'cache' || entry.replace.length === 0) continue
    const edited: Edited = { entries: new Set(entry.replace.map(({ at }) => at.entry)), node: -1 }
    edits = [edited, ...edits].slice(0, 2)
  }
  scans.set(log, { read: log.length, edits })
  return edits
}

function afterEdit(edited: Edited, nodes: readonly ViewNode[]): number {
  const isEdited = (node: ViewNode | undefined): boolean =>
    node?.entries.some((id) => edited.entries.has(id)) ?? false
  if (!isEdited(nodes[edited.node])) edited.node = nodes.findLastIndex(isEdited)
  return edited.node + 1
}

/** The last block before node `limit` that may carry a breakpoint. */
function findPlace(
  { blocks }: Settled,
  limit: number,
  slot: BreakpointPlace['slot'],
): BreakpointPlace | undefined {
  for (let node = limit - 1; node >= 0; node--) {
    const block = blocks[node]?.findLastIndex(mayCarryBreakpoint) ?? -1
    if (block >= 0) return { node, block, slot }
  }
  return undefined
}

/** Types that have a `cache_control` and are blocks of a message themselves. We assume nothing about a type that is not listed. */
const CARRIERS: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_use',
  'tool_result',
  'server_tool_use',
  'mcp_tool_use',
  ...SERVER_RESULT_TYPES,
  'container_upload',
  'compaction',
])

function mayCarryBreakpoint({ block }: ViewBlock): boolean {
  return CARRIERS.has(block.type) && !(isBlock(block, 'text') && block.text === '')
}
