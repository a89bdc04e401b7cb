import { encodeFacts } from '../facts/encode-facts.ts'
import { factsOf } from '../facts/facts-of.ts'
import { gapsIn, withGaps } from '../layers/4-compaction/keep/gaps.ts'
import type { EntryBody, NamedBody } from '../situation/session.ts'
import type {
  BlockRef,
  BoundaryEntry,
  BoundaryMeta,
  EditEntry,
  Entry,
  EntryId,
  KeptSegment,
  PinEntry,
} from '../transcript/entry.ts'
import { blockKey, type View } from '../transcript/view.ts'
import { voidedBy } from '../transcript/voided.ts'
import type { JsonText } from '../wire/json.ts'
import { isOwners } from './owner-tree.ts'

// Decisions stay decided. A branch shares its first messages with the one that was left; what replaced blocks of theirs there replaces them
// here, byte for byte, unless it is about messages that the branch does not have.

type Replacement = EditEntry['replace'][number]

/** Makes the messages that both views have look in `after` as they do in `before`. */
export function carryOver(before: View, after: View, newId: () => EntryId): readonly NamedBody[] {
  const shared = entriesIn(after)
  const edits = dropsOf(before, after)
  const whole = edits.filter((edit) => refsOf(edit).every((id) => shared.has(id)))
  const cut = new Set(
    edits.filter((edit) => !whole.includes(edit)).flatMap(({ replace }) => replace.map(keyOfAt)),
  )
  const replace = differences(before, after).filter((one) => !cut.has(keyOfAt(one)))
  const drop = whole.flatMap((edit) => edit.drop)
  return [
    ...boundaryAgain(before, after, newId),
    ...(replace.length > 0 || drop.length > 0 ? [editBody(replace, drop)] : []),
    ...pinsAgain(before, after, (id) => id),
  ]
}

/** The same for messages that were appended again. `twins`: their new entries, by their old ones. */
export function standInsFor(before: View, twins: ReadonlyMap<EntryId, EntryId>): readonly NamedBody[] {
  const replace = [...textsByRef(before)].flatMap(([, { at, texts, original }]): Replacement[] => {
    const entry = twins.get(at.entry)
    return original || entry === undefined ? [] : [{ at: { entry, index: at.index }, with: texts }]
  })
  return [
    ...(replace.length > 0 ? [editBody(replace, [])] : []),
    ...pinsAgain(before, undefined, twins.get.bind(twins)),
  ]
}

function editBody(replace: readonly Replacement[], drop: readonly EntryId[]): EntryBody<EditEntry> {
  return { kind: 'edit', cause: 'again', replace, drop, freedTokens: 0 }
}

interface RefTexts {
  readonly at: BlockRef
  readonly texts: JsonText[]
  readonly original: boolean
}

/** What is in view for each block of the messages. */
function textsByRef({ nodes }: View): Map<string, RefTexts> {
  const found = new Map<string, RefTexts>()
  for (const { blocks } of nodes)
    for (const { at, json, original } of blocks) {
      const known = found.get(blockKey(at))
      if (known) known.texts.push(json)
      else found.set(blockKey(at), { at, texts: [json], original })
    }
  return found
}

function differences(before: View, after: View): readonly Replacement[] {
  const old = textsByRef(before)
  const inView = entriesIn(before)
  return [...textsByRef(after)].flatMap(([key, { at, texts }]): Replacement[] => {
    if (!inView.has(at.entry)) return []
    const wanted = old.get(key)?.texts ?? []
    return wanted.join() === texts.join() ? [] : [{ at, with: wanted }]
  })
}

function entriesIn({ nodes }: View): Set<EntryId> {
  return new Set(nodes.flatMap(({ blocks }) => blocks.map(({ at }) => at.entry)))
}

/** Edits of the old branch that removed whole messages. */
function dropsOf(before: View, after: View): readonly EditEntry[] {
  const known = new Set(after.log.map(({ id }) => id))
  const voided = voidedBy(before.log)
  return before.log.filter(
    (entry): entry is EditEntry =>
      entry.kind === 'edit' && entry.drop.length > 0 && !known.has(entry.id) && !voided.has(entry.id),
  )
}

function refsOf({ replace, drop }: EditEntry): readonly EntryId[] {
  return [...replace.map(({ at }) => at.entry), ...drop]
}

function keyOfAt({ at }: Replacement): string {
  return blockKey(at)
}

function pinsAgain(
  before: View,
  after: View | undefined,
  entryFor: (id: EntryId) => EntryId | undefined,
): readonly EntryBody<PinEntry>[] {
  const inAfter = after && entriesIn(after)
  return before.nodes.flatMap(({ blocks }) =>
    blocks.flatMap(({ at }): EntryBody<PinEntry>[] => {
      const entry = before.pinned.has(blockKey(at)) ? entryFor(at.entry) : undefined
      if (entry === undefined || (inAfter && !inAfter.has(entry))) return []
      const target = { entry, index: at.index }
      return after?.pinned.has(blockKey(target)) ? [] : [{ kind: 'pin', target, on: true }]
    }),
  )
}

/** The compaction in force, if everything that left with it is here too. Of what it kept, the branch has its own part. */
function boundaryAgain(before: View, after: View, newId: () => EntryId): readonly NamedBody[] {
  const boundary = before.boundary?.entry
  if (!boundary || boundary.keeps !== 'tail' || after.log.some(({ id }) => id === boundary.id)) return []
  const shared = entriesIn(after)
  const copied = copiesOf(boundary, before)
  const start = keptStart(boundary, new Set(copied.values()), before, after)
  if (start === undefined) return []
  // A line that says what was left out repeats no message.
  const isHere = (id: EntryId): boolean => !copied.has(id) || shared.has(copied.get(id) ?? id)
  const copies = boundary.copies?.filter(isHere)
  const ids = new Map(
    [...boundary.summary, ...(copies ?? []), ...boundary.attachments].map((id) => [id, newId()]),
  )
  const renamed = (list: readonly EntryId[]): readonly EntryId[] => list.flatMap((id) => ids.get(id) ?? [])
  const parts = before.log.flatMap((entry): NamedBody[] => {
    const id = ids.get(entry.id)
    return id === undefined ? [] : [{ ...bodyOf(entry), id }]
  })
  if (parts.length < ids.size) return []
  const summary = renamed(boundary.summary)
  const kept = segmentFrom(after, start, summary.at(-1) ?? boundary.id)
  const { copies: _copies, kept: _kept, ...same } = boundary
  const head: NamedBody<BoundaryEntry> = {
    ...same,
    id: newId(),
    summary,
    ...(kept && { kept }),
    ...(copies && { copies: renamed(copies) }),
    attachments: renamed(boundary.attachments),
    logicalParent: after.leaf,
    meta: metaFor(boundary, after, (id) => ids.get(id) ?? id),
  }
  return [head, ...parts]
}

/** Copies that a boundary made, with the messages that they repeat. */
function copiesOf({ copies = [] }: BoundaryEntry, { log }: View): ReadonlyMap<EntryId, EntryId> {
  const wanted = new Set(copies)
  return new Map(
    log.flatMap((entry) =>
      wanted.has(entry.id) && entry.kind === 'message' && entry.copyOf !== undefined
        ? [[entry.id, entry.copyOf]]
        : [],
    ),
  )
}

/**
 * The first node of `after` that comes after everything the compaction removed, and after its copies. Undefined if something that it
 * removed is not here: its summary says what this history does not.
 */
function keptStart(
  boundary: BoundaryEntry,
  copied: ReadonlySet<EntryId>,
  before: View,
  after: View,
): number | undefined {
  const nodeOf = (id: EntryId | undefined): number =>
    id === undefined ? -1 : after.nodes.findIndex(({ entries }) => entries.includes(id))
  const place = (id: EntryId | undefined): number => before.log.findIndex((entry) => entry.id === id)
  const end = before.log.indexOf(boundary)
  const { kept } = boundary
  const first = kept ? place(kept.head) : end
  const lastGone = before.log
    .slice(0, first < 0 ? end : first)
    .findLast((entry) => isOwners(entry) && !copied.has(entry.id))
  // If the conversation was loaded from here on, only what was kept shows the place.
  const gone = lastGone ? nodeOf(lastGone.id) : nodeOf(kept?.head) - 1
  if (gone < 0) return undefined
  const start = after.nodes.findIndex(({ entries }, i) => i > gone && !entries.every((id) => copied.has(id)))
  return start < 0 ? after.nodes.length : start
}

function segmentFrom({ nodes }: View, start: number, anchor: EntryId): KeptSegment | undefined {
  const head = nodes[start]?.entries[0]
  const tail = nodes.at(-1)?.entries.at(-1)
  return head === undefined || tail === undefined ? undefined : { head, tail, anchor }
}

/** Keeps what is known of the conversation; its offsets in the file are found again. */
function metaFor(boundary: BoundaryEntry, after: View, renamed: (id: EntryId) => EntryId): BoundaryMeta {
  const { keptOffset: _kept, prefixOffset: _prefix, ...meta } = boundary.meta
  const gaps = new Map([...gapsIn(boundary)].map(([id, gap]) => [renamed(id), gap]))
  return { ...meta, extra: withGaps({ ...meta.extra, facts: encodeFacts(factsOf(after)) }, gaps) }
}

function bodyOf(entry: Entry): EntryBody {
  const { id: _id, parent: _parent, at: _at, ...body } = entry
  return body
}
