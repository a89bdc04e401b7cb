import { withLeft } from '../../../situation/compaction-record.ts'
import { leastAnswered } from '../../../situation/least-answered.ts'
import { factorOf } from '../../../tokens/calibrate.ts'
import { gapsIn, markersOf, withGaps, type Gap } from '../keep/gaps.ts'
import type { Restored } from '../../../ports.ts'
import type {
  BlockRef,
  BoundaryMeta,
  EditEntry,
  EntryId,
  KeptSegment,
  MessageEntry,
  PinEntry,
} from '../../../transcript/entry.ts'
import { blockKey, type View, type ViewNode } from '../../../transcript/view.ts'
import { offersRecall } from '../../../transcript/recall-tool.ts'
import { settle, tokensEnd } from '../../../transcript/settle.ts'
import { messageEntries } from '../keep/message-entries.ts'
import type { SignedBlock } from './signed-block.ts'
import { messageBody, viewWith, type EntryBody, type NamedBody } from '../../../situation/session.ts'
import { sizeSinceAnswer, type Sizing } from '../../../situation/size-of.ts'

/** What the conversation becomes. */
export interface NewConversation {
  readonly keeps: 'tail' | 'head'
  readonly summary: string
  /** If set, this block is the summary and comes first; `summary` is what goes with it, after what is kept. */
  readonly signed?: SignedBlock
  /** Excerpts of what leaves, in a message of their own after the summary, where the next compaction finds them. */
  readonly quotes: string
  /** Nodes that stay as they are, in sequence. */
  readonly kept: readonly ViewNode[]
  /** Older nodes that stay, with pairs whole, oldest first. */
  readonly copied: readonly ViewNode[]
  /** What is left out between them, by how many of them come before it. Absent: no line mentions it. */
  readonly gaps?: ReadonlyMap<number, Gap>
  readonly restored: readonly Restored[]
  readonly meta: BoundaryMeta
}

/** Everything in one batch: after a crash there is either the old conversation or the new one. */
export function compactionBodies(
  view: View,
  { keeps, summary, signed, quotes, kept, copied, gaps = new Map(), restored, meta }: NewConversation,
  newId: () => EntryId,
): readonly NamedBody[] {
  const named = <T extends EntryBody<MessageEntry>>(body: T) => ({ ...body, id: newId() })
  const boundary = newId()
  const texts = [summary, quotes].filter((text) => text !== '').map(madeBody)
  const made = (signed ? [signedBody(signed)] : texts).map(named)
  const markers = markersOf(gaps, offersRecall(view.prefix))
  const between = new Map([...markers].map(([place, text]) => [place, markerBody(text, newId())]))
  const copyBodies = copiesOf(view, copied, between, newId)
  const marked = [...gaps].map(
    ([place, gap]) => [between.get(place)?.id ?? made[0]?.id ?? boundary, gap] as const,
  )
  const left = gapsAfter(view, kept, marked)
  const again = restored.map(({ text, origin, files }) =>
    messageBody({ role: 'user', content: text }, origin, { part: 'attachment', ...(files && { files }) }),
  )
  const attachments = [...(signed ? texts : []), ...again].map(named)
  const segment = segmentOf(kept, keeps === 'tail' ? (made.at(-1)?.id ?? boundary) : boundary)
  const head: NamedBody = {
    kind: 'boundary',
    id: boundary,
    summary: made.map(({ id }) => id),
    keeps,
    ...(segment && { kept: segment }),
    ...(copyBodies.length > 0 && { copies: copyBodies.map(({ id }) => id) }),
    attachments: attachments.map(({ id }) => id),
    logicalParent: view.leaf,
    meta: { ...meta, extra: withGaps(meta.extra ?? {}, left) },
  }
  return [
    head,
    ...made,
    ...copyBodies,
    ...attachments,
    ...standInBodies(copied),
    ...pinBodies(view, [...copied, ...kept]),
    ...titleAgain(view),
  ]
}

type CopyBody = NamedBody<MessageEntry> & { readonly id: EntryId }

/** Each copy, after the line that says what is left out there. */
function copiesOf(
  view: View,
  copied: readonly ViewNode[],
  between: ReadonlyMap<number, CopyBody>,
  newId: () => EntryId,
): readonly CopyBody[] {
  const entries = new Map(messageEntries(view, copied).map((entry) => [entry.copyOf ?? entry.id, entry]))
  const last = between.get(copied.length)
  const all = copied.flatMap((node, place): CopyBody[] => {
    const marker = between.get(place)
    const own = node.entries.flatMap((id) => entries.get(id) ?? []).filter(mayBeCopied)
    return [...(marker ? [marker] : []), ...own.map((entry) => copyBody(entry, newId()))]
  })
  return last ? [...all, last] : all
}

function markerBody(text: string, id: EntryId): CopyBody {
  return { ...messageBody({ role: 'user', content: text }, 'engine', { part: 'kept' }), id }
}

/** What was left out where, for the next compaction: now, and in what stays from an earlier one. */
function gapsAfter(
  view: View,
  kept: readonly ViewNode[],
  now: readonly (readonly [EntryId, Gap])[],
): ReadonlyMap<EntryId, Gap> {
  const before = gapsIn(view.boundary?.entry)
  const stay = kept.flatMap(({ source }) => {
    const gap = before.get(source.id)
    return gap ? [[source.id, gap] as const] : []
  })
  return new Map([...stay, ...now])
}

/** The same bodies; the boundary also says how large the conversation is that they leave, as it will be counted until the next answer. */
export function withCount(
  view: View,
  bodies: readonly NamedBody[],
  sizing: Sizing,
): { readonly bodies: readonly NamedBody[]; readonly postTokens: number } {
  const after = viewWith(view, bodies)
  const postTokens = sizeSinceAnswer(after, sizing)
  const { calibration, thinking } = sizing
  const least = leastAnswered(view)
  const left = {
    estimate: tokensEnd(settle(after, thinking)),
    model: thinking.model,
    ...(calibration.samples.length > 0 && { factor: factorOf(calibration) }),
    ...(least && { least }),
  }
  const counted = bodies.map((body): NamedBody => {
    if (body.kind !== 'boundary') return body
    return { ...body, meta: { ...body.meta, postTokens, extra: withLeft(body.meta.extra ?? {}, left) } }
  })
  return { bodies: counted, postTokens }
}

/** Pins are repeated after the boundary, because loading begins there. */
function pinBodies(view: View, nodes: readonly ViewNode[]): readonly EntryBody<PinEntry>[] {
  const pinned = nodes.flatMap((node) => node.blocks.filter(({ at }) => view.pinned.has(blockKey(at))))
  const targets = new Map(pinned.map(({ at }) => [blockKey(at), at]))
  return [...targets.values()].map((target) => ({ kind: 'pin', target, on: true }))
}

/** Repeats the title, because the list of sessions looks for it near the end of the file. */
function titleAgain({ log }: View): readonly NamedBody[] {
  const last = log.findLast((entry) => entry.kind === 'title')
  return last ? [{ kind: 'title', title: last.title, firstPrompt: last.firstPrompt }] : []
}

function madeBody(text: string): EntryBody<MessageEntry> {
  return messageBody({ role: 'user', content: text }, 'engine', { part: 'summary' })
}

/** A copy repeats its original; a block that was replaced there is replaced here too. */
function standInBodies(copied: readonly ViewNode[]): readonly EntryBody<EditEntry>[] {
  const standIns = new Map<string, { readonly at: BlockRef; readonly with: string[] }>()
  for (const { at, json, original } of copied.flatMap((node) => node.blocks)) {
    if (original) continue
    const known = standIns.get(blockKey(at))
    if (known) known.with.push(json)
    else standIns.set(blockKey(at), { at, with: [json] })
  }
  const replace = [...standIns.values()]
  return replace.length > 0 ? [{ kind: 'edit', cause: 'again', replace, drop: [], freedTokens: 0 }] : []
}

function signedBody({ json, block, standsFor }: SignedBlock): EntryBody<MessageEntry> {
  const message = { role: 'assistant' as const, content: [block] }
  return messageBody(message, 'model', {
    part: 'summary',
    json: `{"role":"assistant","content":[${json}]}`,
    standsFor,
  })
}

/** A signed block replaces what came before it, and only at the beginning. */
function mayBeCopied({ standsFor }: MessageEntry): boolean {
  return standsFor === undefined
}

/** Counted and paid for as the message it repeats, so without usage. */
function copyBody(entry: MessageEntry, id: EntryId): CopyBody {
  const { id: own, parent: _parent, at: _at, usage: _usage, sentEstimate: _sent, ...body } = entry
  return { ...body, part: 'kept', copyOf: entry.copyOf ?? own, id }
}

function segmentOf(kept: readonly ViewNode[], anchor: EntryId): KeptSegment | undefined {
  const head = kept[0]?.entries[0]
  const tail = kept.at(-1)?.entries.at(-1)
  return head === undefined || tail === undefined ? undefined : { head, tail, anchor }
}
