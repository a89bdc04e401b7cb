import { isPart, type Entry, type EntryId, type MessageEntry } from '../transcript/entry.ts'
import { SHORT_ID_CHARS } from '../transcript/short-id.ts'
import type { ToolUseBlock } from '../wire/message.ts'
import { messageText } from './entry-text.ts'
import { resultsOf, rowOf, usesIn, type Recalled, type RecalledRow, type RecallSource } from './recalled.ts'

/** The messages from the first to the last id, as the conversation had them: without abandoned branches, and without copies. */
export async function recallRange(
  first: string,
  last: string,
  source: RecallSource,
  charsMax: number,
): Promise<Recalled> {
  const links = new Map<EntryId, Link>()
  const calls = new Map<string, ToolUseBlock>()
  let from: EntryId | undefined
  let to: EntryId | undefined
  for await (const entry of source.entries(() => true)) {
    if (from === undefined && isMeant(entry, first)) from = entry.id
    if (from === undefined) continue
    if (entry.kind === 'message') for (const use of usesIn(entry)) calls.set(use.id, use)
    const row = isShown(entry) ? rowOf(entry, calls) : undefined
    links.set(entry.id, { parent: entry.parent, ...(row && { row }) })
    if (isMeant(entry, last)) to = entry.id
    // Results of one answer come after its last word.
    if (to !== undefined && entry.id !== to) break
  }
  if (from === undefined || to === undefined) return { kind: 'none' }
  const rows = chainBetween(from, to, links)
  const total = rows.reduce((sum, { chars }) => sum + chars, 0)
  if (total > charsMax) return { kind: 'rows', rows }
  return await textsIn(rows, source, charsMax)
}

interface Link {
  readonly parent: EntryId | null
  readonly row?: RecalledRow
}

function isMeant(entry: Entry, id: string): boolean {
  if (!isShown(entry)) return false
  return entry.id === id || (id.length >= SHORT_ID_CHARS && entry.id.startsWith(id))
}

/** A summary, an attachment and a copy are not what was said at that time. */
function isShown(entry: Entry): entry is MessageEntry {
  return entry.kind === 'message' && !isPart(entry)
}

/** Follows the parents; if they do not lead to the first, takes the order of the lines. */
function chainBetween(from: EntryId, to: EntryId, links: ReadonlyMap<EntryId, Link>): readonly RecalledRow[] {
  const rows: RecalledRow[] = []
  for (let id: EntryId | null = to; id !== null;) {
    const link: Link | undefined = links.get(id)
    if (!link) break
    if (link.row) rows.push(link.row)
    if (id === from) return rows.toReversed()
    id = link.parent
  }
  const all = [...links.values()].flatMap(({ row }) => row ?? [])
  return all.slice(0, all.findIndex(({ id }) => id === to) + 1)
}

/** The texts of these rows, or only the rows if that is too much: results on disk may be longer than their stand-ins. */
export async function textsIn(
  rows: readonly RecalledRow[],
  source: RecallSource,
  charsMax: number,
): Promise<Recalled> {
  const wanted = new Set(rows.map(({ id }) => id))
  const entries: MessageEntry[] = []
  for await (const entry of source.entries(() => true))
    if (isShown(entry) && wanted.has(entry.id)) entries.push(entry)
  const { stored } = await resultsOf(entries, source)
  const texts = rows.flatMap(({ id, at, what }) => {
    const entry = entries.find((one) => one.id === id)
    return entry ? [{ id, at, what, text: messageText(entry, stored) }] : []
  })
  const total = texts.reduce((sum, { text }) => sum + text.length, 0)
  if (total <= charsMax) return { kind: 'texts', texts }
  return { kind: 'rows', rows: texts.map(({ text, ...row }) => ({ ...row, chars: text.length })) }
}
