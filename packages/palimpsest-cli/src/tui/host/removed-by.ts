import { loadTranscript } from 'palimpsest/node'
import { emptyView, step, type Entry, type MessageEntry, type View } from 'palimpsest/transcript'

// What a removal removed: compares the window before and after it.

export interface Removed {
  readonly gone: readonly MessageEntry[]
  /** Messages that are in the window unchanged. */
  readonly stayed: number
}

/** Undefined if the log does not reach back to before the removal. */
export function removedBy(view: Pick<View, 'log' | 'from'>, id: string): Removed | undefined {
  const { log, from } = view
  const place = log.findIndex((entry) => entry.id === id)
  const removal = log[place]
  if (!removal || id === from) return undefined
  let folded = emptyView(from)
  for (const entry of log.slice(0, place)) folded = step(folded, entry)
  const before = idsIn(folded)
  for (const entry of [removal, ...partsAfter(log, place)]) folded = step(folded, entry)
  const after = idsIn(folded)
  const touched = removal.kind === 'edit' ? new Set(removal.replace.map(({ at }) => at.entry)) : NOTHING
  const gone = log.filter(
    (entry): entry is MessageEntry =>
      entry.kind === 'message' && before.has(entry.id) && (!after.has(entry.id) || touched.has(entry.id)),
  )
  return { gone, stayed: before.size - gone.length }
}

const NOTHING: ReadonlySet<string> = new Set()

/** The same if only the end of the transcript is loaded: reads as much as an undo would need. */
export async function removedOnDisk(
  path: string,
  id: string,
  leaf: string | null,
): Promise<Removed | undefined> {
  const assumed: Entry = { kind: 'void', id: `${id}-seen`, parent: leaf, at: 0, target: id }
  const { entries, from } = await loadTranscript(path, [assumed])
  return removedBy({ log: [...entries], from }, id)
}

function idsIn({ nodes }: View): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ entries }) => entries))
}

/** The messages of a boundary come right after it. */
function partsAfter(log: readonly Entry[], place: number): readonly Entry[] {
  const rest = log.slice(place + 1)
  const end = rest.findIndex((entry) => entry.kind !== 'message' || entry.part === undefined)
  return end < 0 ? rest : rest.slice(0, end)
}
