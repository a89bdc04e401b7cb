import { factorOf, type Calibration } from '../tokens/calibrate.ts'
import { estimateText } from '../tokens/estimate.ts'
import { reportContext, type ContextReport, type Thresholds } from '../situation/thresholds.ts'
import type { Window } from '../situation/window.ts'
import {
  isRemoval,
  type BoundaryEntry,
  type EditCause,
  type EditEntry,
  type Entry,
  type StoredEntry,
} from '../transcript/entry.ts'
import { droppedBefore, settle, type ThinkingPolicy } from '../transcript/settle.ts'
import type { ViewBlock } from '../transcript/view-block.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import { voidedBy } from '../transcript/voided.ts'
import { isBlock, isThinking, toBlocks, type ToolUseBlock } from '../wire/message.ts'
import { readCall } from '../facts/read-call.ts'
import type { CacheLifetimes } from '../request/build-request.ts'
import { cacheHistory, type CacheEvent } from '../accounts/cache-history.ts'
import type { CacheBreak } from '../accounts/cache-watch.ts'
import type { EditEffect } from '../accounts/edit-effect.ts'
import { isSizeExact, sizeOf, type Sizing } from '../situation/size-of.ts'
import { CHARS_PER_TOKEN } from '../tokens/chars-per-token.ts'

// What fills the window now, by kind, and what was removed from it. Reads the view; changes nothing.

export const CONTEXT_KINDS = [
  'system',
  'tools',
  'user',
  'assistant',
  'thinking',
  'tool_results',
  'attachments',
  'summary',
] as const
export type ContextKind = (typeof CONTEXT_KINDS)[number]

export interface ContextSetup extends Sizing {
  readonly window: Window
  readonly thresholds: Thresholds
  readonly autoEnabled: boolean
  /** Bought for requests of this conversation. */
  readonly lifetimes: CacheLifetimes
}

/** Something that left the view and can be restored. */
export interface Removal {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly layer: 1 | 2 | 3 | 4
  readonly what: string
  readonly tokens: number
  /** Whether an undo would put something into view again. */
  readonly canUndo: boolean
  /** Its effect, once the request after it was answered. */
  readonly effect?: EditEffect
  /** For a compaction: what wrote its summary, and how that was proved. */
  readonly path?: string | undefined
  readonly proof?: NonNullable<BoundaryEntry['meta']['proof']>
}

/** For the requests since the newest boundary that was loaded. */
export interface CacheHealth {
  readonly breaks: number
  readonly lastBreak?: (CacheBreak & { readonly at: number }) | undefined
}

export interface ContextDescription {
  readonly used: number
  /** The provider's own count; otherwise part of it is estimated. */
  readonly isExact: boolean
  readonly report: ContextReport
  readonly byKind: { readonly [kind in ContextKind]: number }
  readonly cache: CacheHealth
  readonly removals: readonly Removal[]
}

export function describeContext(view: View, setup: ContextSetup): ContextDescription {
  const raw = rawByKind(view, setup.thinking)
  const used = sizeOf(view, setup)
  const { events } = cacheHistory(view.log, setup.lifetimes, view.from)
  return {
    used,
    isExact: isSizeExact(view, setup),
    report: reportContext(used, setup),
    byKind: share(view.prefix ? raw : withUnknownPrefix(raw, used, setup.calibration), used),
    cache: healthOf(events),
    removals: removalsOf(view.log, setup.calibration).map((removal) => withEffect(removal, events)),
  }
}

type RawByKind = { readonly [kind in ContextKind]: number }

function rawByKind(view: View, thinking: ThinkingPolicy): RawByKind {
  const raw = {
    system: 0,
    tools: 0,
    user: 0,
    assistant: 0,
    thinking: 0,
    tool_results: 0,
    attachments: 0,
    summary: 0,
  }
  if (view.prefix) {
    raw.system = estimateText(view.prefix.system)
    raw.tools = estimateText(view.prefix.tools)
  }
  const settled = settle(view, thinking)
  const dropped = droppedBefore(settled, view.nodes.length)
  for (const [index, node] of view.nodes.entries()) {
    for (const block of settled.blocks[index] ?? [])
      if (index >= dropped || !isThinking(block.block)) raw[kindOf(node, block)] += block.tokens
  }
  return raw
}

function kindOf(node: ViewNode, { block }: ViewBlock): ContextKind {
  if (node.source.part === 'summary') return 'summary'
  if (node.source.part === 'attachment') return 'attachments'
  if (isThinking(block)) return 'thinking'
  if (block.type === 'tool_result') return 'tool_results'
  return node.role === 'assistant' ? 'assistant' : 'user'
}

/** A transcript of another agent says nothing about system and tools. What its usage holds beyond its messages belongs to them. */
function withUnknownPrefix(raw: RawByKind, used: number, calibration: Calibration): RawByKind {
  const messages = CONTEXT_KINDS.reduce((sum, kind) => sum + raw[kind], 0)
  return { ...raw, system: Math.max(0, used / factorOf(calibration) - messages) }
}

/** The estimates as shares of the whole, so that they add up to it. */
function share(raw: RawByKind, used: number): RawByKind {
  const total = CONTEXT_KINDS.reduce((sum, kind) => sum + raw[kind], 0)
  const shares = { ...raw }
  let given = 0
  let before = 0
  for (const kind of CONTEXT_KINDS) {
    before += raw[kind]
    const upTo = total === 0 ? 0 : Math.round((before / total) * used)
    shares[kind] = upTo - given
    given = upTo
  }
  return shares
}

function healthOf(events: readonly CacheEvent[]): CacheHealth {
  const breaks = events.flatMap(({ at, break: broken }) => (broken ? [{ ...broken, at }] : []))
  const lastBreak = breaks.at(-1)
  return {
    breaks: breaks.length,
    lastBreak,
  }
}

function withEffect(removal: Removal, events: readonly CacheEvent[]): Removal {
  const effect = events.find((event) => event.effect?.ids.includes(removal.id))?.effect
  return effect ? { ...removal, effect } : removal
}

function removalsOf(log: readonly Entry[], calibration: Calibration): Removal[] {
  const voided = voidedBy(log)
  const boundary = log.findLastIndex(({ kind, id }) => kind === 'boundary' && !voided.has(id))
  const newest = new Map(log.flatMap((entry) => (entry.kind === 'stored' ? [[entry.toolUseId, entry]] : [])))
  const calls = callsIn(log, newest)
  return log.flatMap((entry, i) => {
    if (voided.has(entry.id)) return []
    // What was removed before a compaction is no longer in force.
    if (entry.kind === 'edit' && isRemoval(entry)) return [editRemoval(entry, i > boundary)]
    if (entry.kind === 'boundary') return [boundaryRemoval(entry)]
    // A decision that was made again before anyone saw it is one removal.
    return entry.kind === 'stored' && newest.get(entry.toolUseId) === entry
      ? [storedRemoval(entry, calls.get(entry.toolUseId), factorOf(calibration))]
      : []
  })
}

/** Why an edit was made, for the user. */
const WHY: { readonly [cause in EditCause]: string } = {
  cold: 'nothing was cached any more',
  batch: 'it saves more than it costs',
  forced: 'the request was too long',
  media: 'images and documents',
  server: 'by the provider',
  cache: "in the provider's cache",
  snip: 'no longer needed',
  collapse: 'folded',
  restore: 'restored',
  again: 'as before',
}

export function whyEdited({ cause }: Pick<EditEntry, 'cause'>): string {
  return WHY[cause]
}

function editRemoval(entry: EditEntry, isInForce: boolean): Removal {
  const { id, at, cause, replace, drop, freedTokens } = entry
  const count = (length: number, one: string): string => `${length} ${one}${length === 1 ? '' : 's'}`
  const parts = [
    ...(replace.length > 0 ? [`${count(replace.length, 'block')} replaced`] : []),
    ...(drop.length > 0 ? [`${count(drop.length, 'message')} dropped`] : []),
  ]
  // The history is sent in full, so the provider would clear again what it cleared.
  const canUndo = isInForce && cause !== 'server'
  const what = `${parts.length > 0 ? parts.join(', ') : 'cleared'} (${whyEdited(entry)})`
  return { id, at, layer: cause === 'collapse' ? 4 : 2, what, tokens: freedTokens, canUndo }
}

function boundaryRemoval({ id, at, meta }: BoundaryEntry): Removal {
  const tokens = Math.max(0, meta.preTokens - (meta.postTokens ?? meta.preTokens))
  const what = `${meta.messagesSummarized ?? 'earlier'} messages summarised (${meta.trigger})`
  const { path, proof } = meta
  return {
    id,
    at,
    layer: path === 'notes' ? 3 : 4,
    what,
    tokens,
    canUndo: true,
    path,
    ...(proof && { proof }),
  }
}

/** Calls whose results are stored: an id alone says nothing to a reader. */
function callsIn(
  log: readonly Entry[],
  stored: ReadonlyMap<string, StoredEntry>,
): ReadonlyMap<string, ToolUseBlock> {
  const calls = new Map<string, ToolUseBlock>()
  if (stored.size === 0) return calls
  for (const entry of log)
    for (const block of entry.kind === 'message' ? toBlocks(entry.message.content) : [])
      if (isBlock(block, 'tool_use') && stored.has(block.id)) calls.set(block.id, block)
  return calls
}

const TARGET_CHARS_MAX = 60

/** A shorter stand-in shows next to nothing of the result. */
const SAMPLE_CHARS_MIN = 600

/** Before calibration. The text itself is on disk; the stand-in has its beginning, which shows how dense it is. */
function tokensPerByte({ standIn }: StoredEntry): number {
  return standIn.length < SAMPLE_CHARS_MIN ? 1 / CHARS_PER_TOKEN : estimateText(standIn) / standIn.length
}

function storedRemoval(entry: StoredEntry, call: ToolUseBlock | undefined, factor: number): Removal {
  const { id, at, toolUseId, blob } = entry
  const tokens = Math.ceil(blob.bytes * tokensPerByte(entry) * factor)
  const target = call ? readCall(call).target.replaceAll(/\s+/g, ' ').slice(0, TARGET_CHARS_MAX) : ''
  const what = call ? `${call.name}${target === '' ? '' : ` ${target}`}` : toolUseId
  return { id, at, layer: 1, what: `the result of ${what} is in ${blob.path}`, tokens, canUndo: false }
}
