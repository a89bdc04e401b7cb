import { InvariantError } from '../errors.ts'
import { splitObject } from '../wire/json.ts'
import { isBlock } from '../wire/message.ts'
import {
  isPart,
  partsOf,
  type BlockRef,
  type BoundaryEntry,
  type EditEntry,
  type Entry,
  type EntryId,
  type MessageEntry,
  type PrefixEntry,
  type StoredEntry,
} from './entry.ts'
import { toViewBlocks, toViewBlock, type ViewBlock } from './view-block.ts'
import { dropSettled, emptySettled, type Settled } from './settle.ts'
import { pairUp } from './pair-up.ts'
import { isSilent, placeOfUser, placeSystem } from './place-system.ts'
import { voidedBy } from './voided.ts'

// What the model sees, as a fold over the entries of one chain. Nodes are values; the list of them belongs to the appender. A step costs as
// much as the entry adds or changes.

/** One message of the conversation. The results of one response's tool uses are one node, directly after it. */
export interface ViewNode {
  readonly role: 'user' | 'assistant' | 'system'
  readonly blocks: readonly ViewBlock[]
  /** Message entries that it consists of, oldest first. */
  readonly entries: readonly EntryId[]
  /** The first of those entries: origin, response id, `under`, usage. */
  readonly source: MessageEntry
  /** Members of the message other than role and content, as text that goes after the content. */
  readonly extras: string
  /** For a node of tool results: the answer that asked for them. */
  readonly answers?: EntryId
}

export interface View {
  prefix: PrefixEntry | undefined
  readonly nodes: ViewNode[]
  /** For every change except an append at the end: the first node that changed. Read by `unchangedSince`. */
  readonly changes: number[]
  /** Tool uses without a result yet, with the entry of their answer. */
  readonly open: Map<string, EntryId>
  readonly pinned: Set<string>
  /** The newest boundary in force, and how many nodes it left. */
  boundary: { readonly entry: BoundaryEntry; readonly nodes: number } | undefined
  /** Results that answer nothing in view: kept in the transcript, not sent. */
  readonly orphans: BlockRef[]
  leaf: EntryId | null
  readonly log: Entry[]
  /** Null: the entries are the whole chain. Otherwise: the boundary where they begin; older ones are on disk. */
  readonly from: EntryId | null
  pending: PendingBoundary | undefined
  readonly settled: Settled
}

interface PendingBoundary {
  readonly entry: BoundaryEntry
  readonly found: Map<EntryId, MessageEntry>
  readonly missing: Set<EntryId>
  readonly nodesBefore: number
}

export function emptyView(from: EntryId | null = null): View {
  return {
    prefix: undefined,
    nodes: [],
    changes: [],
    open: new Map(),
    pinned: new Set(),
    boundary: undefined,
    orphans: [],
    leaf: null,
    log: [],
    from,
    pending: undefined,
    settled: emptySettled(),
  }
}

/** A copy that can be stepped further while the original stays. */
export function copyView(view: View): View {
  return {
    ...view,
    nodes: [...view.nodes],
    changes: [...view.changes],
    open: new Map(view.open),
    pinned: new Set(view.pinned),
    orphans: [...view.orphans],
    log: [...view.log],
    settled: emptySettled(),
  }
}

/** The view of a chain of entries, oldest first. */
export function viewOf(entries: Iterable<Entry>, from: EntryId | null = null): View {
  let view = emptyView(from)
  for (const entry of entries) view = step(view, entry)
  return view
}

/** Adds one entry. The given view is used up: continue with the returned one. */
export function step(view: View, entry: Entry): View {
  if (entry.sidechain) return view
  view.log.push(entry)
  view.leaf = entry.id
  if (entry.kind === 'void') return refold(view, entry.target)
  apply(view, entry)
  return view
}

export function blockKey(ref: BlockRef): string {
  return `${ref.entry}:${ref.index}`
}

function apply(view: View, entry: Exclude<Entry, { kind: 'void' }>): void {
  switch (entry.kind) {
    case 'message':
      return addMessage(view, entry)
    case 'prefix':
      view.prefix = entry
      return dropSettled(view.settled, 0)
    case 'stored':
      return applyStored(view, entry)
    case 'edit':
      return applyEdit(view, entry)
    case 'boundary':
      return openBoundary(view, entry)
    case 'pin':
      return void (entry.on
        ? view.pinned.add(blockKey(entry.target))
        : view.pinned.delete(blockKey(entry.target)))
    case 'notes':
    case 'mail':
    case 'spent':
    case 'title':
    case 'other':
      return
    default:
      entry satisfies never
  }
}

/** An undo is rare and may change anything, so the entries that still count are folded again. */
function refold(view: View, target: EntryId): View {
  if (target === view.from)
    throw new InvariantError(
      'N1',
      'the messages before this boundary are not loaded; load the transcript again',
    )
  const voided = voidedBy(view.log)
  const fresh = emptyView(view.from)
  for (const entry of view.log) {
    fresh.log.push(entry)
    if (entry.kind !== 'void' && !voided.has(entry.id)) apply(fresh, entry)
  }
  fresh.leaf = view.leaf
  return fresh
}

function addMessage(view: View, entry: MessageEntry): void {
  if (isPart(entry)) return fillBoundary(view, entry)
  if (entry.message.role === 'assistant') return addAnswer(view, entry)
  const blocks = toViewBlocks(entry)
  const results = blocks.filter((block) => isBlock(block.block, 'tool_result'))
  if (results.length === 0) return void pushNode(view, entry, blocks)
  const others = blocks.filter((block) => !isBlock(block.block, 'tool_result'))
  let target: number | undefined
  for (const result of results) target = addResult(view, entry, result) ?? target
  if (others.length === 0) return
  if (target === undefined) return void pushNode(view, entry, others)
  const node = view.nodes[target]
  if (node) replaceNode(view, target, { ...node, blocks: [...node.blocks, ...others] })
}

/** Lines that share a response id are one answer, even with results of its earlier calls between them. */
function addAnswer(view: View, entry: MessageEntry): void {
  const blocks = toViewBlocks(entry)
  const last = view.nodes.findLastIndex((node) => node.role === 'assistant')
  const node = view.nodes[last]
  const continues = node && entry.responseId !== undefined && node.source.responseId === entry.responseId
  const owner = continues ? node.source.id : entry.id
  if (continues)
    replaceNode(view, last, {
      ...node,
      blocks: [...node.blocks, ...blocks],
      entries: [...node.entries, entry.id],
    })
  else pushNode(view, entry, blocks)
  for (const { block } of blocks) if (isBlock(block, 'tool_use')) view.open.set(block.id, owner)
}

/**
 * Puts a result directly after the answer that asked for it. A second result for the same call, or a result without a call, is not sent.
 */
function addResult(view: View, entry: MessageEntry, result: ViewBlock): number | undefined {
  const block = result.block
  const owner = isBlock(block, 'tool_result') ? view.open.get(block.tool_use_id) : undefined
  if (owner === undefined || !isBlock(block, 'tool_result')) {
    view.orphans.push(result.at)
    return undefined
  }
  view.open.delete(block.tool_use_id)
  const asked = view.nodes.findLastIndex((node) => node.source.id === owner)
  const node = view.nodes[asked + 1]
  if (node?.answers !== owner) {
    insertNode(view, asked + 1, { ...newNode(entry, [result]), answers: owner })
    return asked + 1
  }
  const place = node.blocks.findLastIndex((other) => isBlock(other.block, 'tool_result')) + 1
  replaceNode(view, asked + 1, {
    ...node,
    blocks: node.blocks.toSpliced(place, 0, result),
    entries: node.entries.includes(entry.id) ? node.entries : [...node.entries, entry.id],
  })
  return asked + 1
}

function applyStored(view: View, entry: StoredEntry): void {
  const found = findFromEnd(
    view,
    ({ block }) => isBlock(block, 'tool_result') && block.tool_use_id === entry.toolUseId,
  )
  if (found) replaceBlock(view, found.node, found.block.at, [entry.standIn])
}

function applyEdit(view: View, entry: EditEntry): void {
  let first = view.nodes.length
  for (const { at, with: texts } of entry.replace) {
    const found = findFromEnd(view, (block) => block.at.entry === at.entry && block.at.index === at.index)
    if (found) replaceBlock(view, found.node, at, texts)
    first = Math.min(first, found?.node ?? first)
  }
  const dropped = new Set(entry.drop)
  const cut =
    dropped.size > 0 ? view.nodes.findIndex((node) => node.entries.some((id) => dropped.has(id))) : -1
  if (cut >= 0) first = Math.min(first, cut)
  const start = startOfRound(view.nodes, first)
  const nodes = view.nodes.slice(start).flatMap((node) => withoutEntries(node, dropped))
  replaceNodesFrom(view, start, nodes)
}

/** The answer before a node: pairs, and the order of what follows an answer, are checked from there. */
function startOfRound(nodes: readonly ViewNode[], index: number): number {
  return Math.max(
    0,
    nodes.slice(0, index).findLastIndex((node) => node.role === 'assistant' && !isSilent(node)),
  )
}

/** Inserts changed nodes and completes pairs: results of calls that left go too, calls whose result left are open again. */
function replaceNodesFrom(view: View, index: number, nodes: readonly ViewNode[]): void {
  const paired = pairUp(placeSystem(nodes))
  const same = paired.nodes.findIndex((node, i) => node !== view.nodes[index + i])
  changeFrom(view, index + (same < 0 ? paired.nodes.length : same))
  view.nodes.length = index
  for (const node of paired.nodes) view.nodes.push(node)
  // A call that is gone or replaced waits for no result; nor does one whose result has come back with it.
  for (const [use, owner] of view.open) {
    const place = view.nodes.findLastIndex((node) => node.source.id === owner)
    const isThere = view.nodes[place]?.blocks.some(
      ({ block }) => isBlock(block, 'tool_use') && block.id === use,
    )
    if (!isThere || place >= index) view.open.delete(use)
  }
  for (const [use, owner] of paired.open) view.open.set(use, owner)
}

function withoutEntries(node: ViewNode, dropped: ReadonlySet<EntryId>): ViewNode[] {
  if (!node.entries.some((id) => dropped.has(id))) return [node]
  const blocks = node.blocks.filter((block) => !dropped.has(block.at.entry))
  return blocks.length > 0
    ? [{ ...node, blocks, entries: node.entries.filter((id) => !dropped.has(id)) }]
    : []
}

function openBoundary(view: View, entry: BoundaryEntry): void {
  const missing = new Set(partsOf(entry))
  view.pending = { entry, found: new Map(), missing, nodesBefore: view.nodes.length }
  if (missing.size === 0) closeBoundary(view, view.pending)
}

function fillBoundary(view: View, entry: MessageEntry): void {
  const pending = view.pending
  if (!pending?.missing.delete(entry.id)) return
  pending.found.set(entry.id, entry)
  if (pending.missing.size === 0) closeBoundary(view, pending)
}

/** The compaction has been read completely: from here on it determines the conversation. */
function closeBoundary(view: View, { entry, found, nodesBefore }: PendingBoundary): void {
  const written = (ids: readonly EntryId[]): ViewNode[] =>
    ids.flatMap((id) => {
      const message = found.get(id)
      return message ? [newNode(message, toViewBlocks(message))] : []
    })
  const kept = keptNodes(view, entry, nodesBefore)
  const later = view.nodes.slice(nodesBefore)
  const summary = written(entry.summary)
  const copies = copiedNodes(entry.copies ?? [], found)
  const head = entry.keeps === 'head' ? [...kept, ...summary, ...copies] : [...summary, ...copies, ...kept]
  const nodes = [...head, ...written(entry.attachments)]
  view.pending = undefined
  replaceNodesFrom(view, 0, [...nodes, ...later])
  view.boundary = { entry, nodes: view.nodes.length - later.length }
}

/** In view, a copy is what it repeats: references to the original find it. */
function copiedNodes(copies: readonly EntryId[], found: ReadonlyMap<EntryId, MessageEntry>): ViewNode[] {
  const view = emptyView()
  for (const id of copies) {
    const copy = found.get(id)
    if (!copy) continue
    const { part: _, copyOf = copy.id, ...message } = copy
    addMessage(view, { ...message, id: copyOf })
  }
  return view.nodes
}

function keptNodes(view: View, entry: BoundaryEntry, nodesBefore: number): ViewNode[] {
  if (!entry.kept) return []
  const { head, tail } = entry.kept
  const first = view.nodes.findIndex((node) => node.entries.includes(head))
  const last = view.nodes.findIndex((node) => node.entries.includes(tail))
  return first < 0 || last < 0 ? [] : view.nodes.slice(first, Math.min(last + 1, nodesBefore))
}

function findFromEnd(
  view: View,
  matches: (block: ViewBlock) => boolean,
): { node: number; block: ViewBlock } | undefined {
  for (let i = view.nodes.length - 1; i >= 0; i--) {
    const block = view.nodes[i]?.blocks.find(matches)
    if (block) return { node: i, block }
  }
  return undefined
}

/** The first text replaces the block; further ones follow it under the same reference. */
function replaceBlock(view: View, index: number, at: BlockRef, texts: readonly string[]): void {
  const node = view.nodes[index]
  if (!node) return
  const place = node.blocks.findIndex((block) => block.at.entry === at.entry && block.at.index === at.index)
  const old = node.blocks.filter((block) => block.at.entry === at.entry && block.at.index === at.index)
  const fresh = texts.map((text) => toViewBlock(at, text, false))
  replaceNode(view, index, { ...node, blocks: node.blocks.toSpliced(place, old.length, ...fresh) })
}

function newNode(entry: MessageEntry, blocks: readonly ViewBlock[]): ViewNode {
  return {
    role: entry.message.role,
    blocks,
    entries: [entry.id],
    source: entry,
    extras: messageExtras(entry),
  }
}

function messageExtras(entry: MessageEntry): string {
  if (entry.message.role === 'assistant') return ''
  return splitObject(entry.json)
    .filter(({ key }) => key !== 'role' && key !== 'content')
    .map(({ key, value }) => `,${JSON.stringify(key)}:${value}`)
    .join('')
}

function pushNode(view: View, entry: MessageEntry, blocks: readonly ViewBlock[]): void {
  const place = entry.message.role === 'user' ? placeOfUser(view.nodes) : view.nodes.length
  insertNode(view, place, newNode(entry, blocks))
}

function insertNode(view: View, index: number, node: ViewNode): void {
  changeFrom(view, index)
  view.nodes.splice(index, 0, node)
}

function replaceNode(view: View, index: number, node: ViewNode): void {
  changeFrom(view, index)
  view.nodes[index] = node
}

/** Call this before nodes from `index` on change. */
function changeFrom({ nodes, changes, settled }: View, index: number): void {
  dropSettled(settled, index)
  if (index < nodes.length) changes.push(index)
}
