import { isRemoval, type Entry, type EntryId, type StoredEntry } from '../transcript/entry.ts'
import { RANGE_MARK } from '../transcript/recall-tool.ts'
import { SHORT_ID_CHARS } from '../transcript/short-id.ts'
import { recallRange } from './recall-range.ts'
import { recallRemoval } from './recall-removal.ts'
import { holding, ownId, resultIds, rowOf, textOf, type Recalled, type RecallSource } from './recalled.ts'

// What an id that a text named stands for: a message by its id or the beginning of it, a range of messages by the first and last id, a
// result by its tool use or by the file that stores it, and what a compaction or clearing removed by the id of that entry.

/** A range of messages comes as texts if they have at most `charsMax` characters together, otherwise as a list. */
export async function recallById(given: string, source: RecallSource, charsMax: number): Promise<Recalled> {
  const wanted = idIn(given)
  const at = wanted.indexOf(RANGE_MARK)
  if (at > 0)
    return await recallRange(wanted.slice(0, at), wanted.slice(at + RANGE_MARK.length), source, charsMax)
  const found = wanted === '' ? [] : await findEntries(wanted, source)
  const [only, ...others] = found
  if (!only) return { kind: 'none' }
  if (others.length > 0) return { kind: 'rows', rows: found.map((entry) => rowOf(entry, new Map())) }
  if (isRemoval(only)) return await recallRemoval(only, source, charsMax)
  return { kind: 'texts', texts: [await textOf(only, source)] }
}

/** No id is longer. */
const ID_CHARS_MAX = 400
const ID = /[\w:-]+(?:\.\.[\w:-]+)?/

/** The id as it appeared in a text, a bracket or a path, without the tool's name, folders and file ending. */
function idIn(given: string): string {
  const named = given.slice(-ID_CHARS_MAX)
  const bare = named.slice(Math.max(named.lastIndexOf('/'), named.lastIndexOf('=')) + 1)
  return ID.exec(bare)?.[0] ?? ''
}

/** The best matches: the id itself, then a tool use, a file, the beginning of an id. */
async function findEntries(id: string, source: RecallSource): Promise<readonly Entry[]> {
  const found = new Map<EntryId, { readonly entry: Entry; readonly fit: number }>()
  for await (const entry of source.entries(holding([id]))) {
    const fit = fitOf(entry, id)
    const known = found.get(ownId(entry))
    // A copy repeats its original, which comes before it.
    if (fit > 0 && !known) found.set(ownId(entry), { entry, fit })
  }
  const best = Math.max(...[...found.values()].map(({ fit }) => fit), 0)
  return [...found.values()].flatMap(({ entry, fit }) => (fit === best ? [entry] : []))
}

const FIT = { whole: 4, result: 3, file: 2, beginning: 1, none: 0 } as const

function fitOf(entry: Entry, id: string): number {
  if (isRemoval(entry)) return entry.id === id ? FIT.whole : FIT.none
  if (entry.kind !== 'message' && entry.kind !== 'notes' && entry.kind !== 'stored') return FIT.none
  if (ownId(entry) === id) return FIT.whole
  if (entry.kind === 'message' && resultIds(entry).includes(id)) return FIT.result
  if (entry.kind === 'stored' && fileOf(entry) === id) return FIT.file
  return id.length >= SHORT_ID_CHARS && ownId(entry).startsWith(id) ? FIT.beginning : FIT.none
}

function fileOf({ blob }: StoredEntry): string {
  return blob.path.slice(blob.path.lastIndexOf('/') + 1).replace(/\.txt$/, '')
}
