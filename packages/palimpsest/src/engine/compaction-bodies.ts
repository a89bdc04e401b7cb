import type { Restored } from '../ports.ts'
import type { BoundaryMeta, EntryId, KeptSegment, MessageEntry } from '../transcript/entry.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import { messageBody, type NamedBody } from './session.ts'

/** What the conversation becomes. */
export interface NewConversation {
  readonly keeps: 'tail' | 'head'
  readonly summary: string
  /** Nodes that stay as they are, in a row. */
  readonly kept: readonly ViewNode[]
  /** Older messages that stay, pairs whole, oldest first. */
  readonly copies: readonly MessageEntry[]
  readonly restored: readonly Restored[]
  readonly meta: BoundaryMeta
}

/** All of it in one batch: a crash leaves the old conversation or the new one. */
export function compactionBodies(
  view: View,
  { keeps, summary, kept, copies, restored, meta }: NewConversation,
  newId: () => EntryId,
): readonly NamedBody[] {
  const boundary = newId()
  const summaryId = newId()
  const copyBodies = copies.map((entry) => copyBody(entry, newId()))
  const attachments = restored.map(({ text, origin }) => ({
    ...messageBody({ role: 'user', content: text }, origin, { part: 'attachment' }),
    id: newId(),
  }))
  const segment = segmentOf(kept, keeps === 'tail' ? summaryId : boundary)
  const head: NamedBody = {
    kind: 'boundary',
    id: boundary,
    summary: [summaryId],
    keeps,
    ...(segment && { kept: segment }),
    ...(copyBodies.length > 0 && { copies: copyBodies.map(({ id }) => id) }),
    attachments: attachments.map(({ id }) => id),
    logicalParent: view.leaf,
    meta,
  }
  const text = messageBody({ role: 'user', content: summary }, 'engine', { part: 'summary' })
  return [head, { ...text, id: summaryId }, ...copyBodies, ...attachments]
}

/** Counted and paid for as the message it repeats, so without usage. */
function copyBody(entry: MessageEntry, id: EntryId): NamedBody<MessageEntry> & { readonly id: EntryId } {
  const { id: own, parent: _parent, at: _at, usage: _usage, sentEstimate: _sent, ...body } = entry
  return { ...body, part: 'kept', copyOf: entry.copyOf ?? own, id }
}

function segmentOf(kept: readonly ViewNode[], anchor: EntryId): KeptSegment | undefined {
  const head = kept[0]?.entries[0]
  const tail = kept.at(-1)?.entries.at(-1)
  return head === undefined || tail === undefined ? undefined : { head, tail, anchor }
}
