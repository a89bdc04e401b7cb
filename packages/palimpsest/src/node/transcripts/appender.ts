import type { FileHandle } from 'node:fs/promises'
import { StorageError } from '../../errors.ts'
import { encodeEntry } from '../../transcript/lines/codec.ts'
import type { Entry, EntryId } from '../../transcript/entry.ts'
import type { Envelope } from '../../transcript/lines/line-base.ts'
import { addToTotals, plainTotals, type RunningTotals, type Totals } from '../../transcript/totals.ts'
import type { CostOf } from '../../ports.ts'
import { toStorageError } from '../files/to-storage-error.ts'

// Appending: all entries of one call in one write, in the order of the calls. When the promise resolves, they are in the file; when it
// rejects, the file is unchanged.

/** Returns how many of the bytes were written at the position; it may be fewer than all. */
export type WriteAt = (handle: FileHandle, bytes: Uint8Array, position: number) => Promise<number>

export interface Appender {
  readonly append: (entries: readonly Entry[]) => Promise<void>
  /** Bytes of the file up to the last complete line. */
  readonly size: () => number
  /** Totals over the whole session, including lines that are not loaded. */
  readonly totals: () => Totals
}

export interface AppenderStart {
  readonly handle: FileHandle
  readonly path: string
  readonly envelope: Envelope
  readonly size: number
  readonly totals: RunningTotals
  /** Where known entries begin in the file. */
  readonly offsets: ReadonlyMap<EntryId, number>
  readonly chain: ChainEnd
  readonly syncEach: boolean
  readonly costOf: CostOf
  readonly writeAt?: WriteAt | undefined
}

/** The end of the chain that entries are appended to. */
export interface ChainEnd {
  readonly leaf: EntryId | null
  /** Offset of the prefix in force; undefined if unknown. */
  readonly prefixOffset?: number
}

export function createAppender(start: AppenderStart): Appender {
  const { handle, path } = start
  const offsets = new Map(start.offsets)
  let { size, totals, chain } = start
  let mustCut = false
  let queue: Promise<unknown> = Promise.resolve()

  async function appendNow(entries: readonly Entry[]): Promise<void> {
    const batch = encodeBatch(entries, { ...start, size, totals, offsets, chain })
    try {
      if (mustCut) await handle.truncate(size)
      mustCut = false
      await requireOwnFile(handle, path, size)
    } catch (error) {
      throw toStorageError(error, 'append to', path)
    }
    try {
      await writeWhole(start, batch.bytes, size)
      if (start.syncEach) await handle.datasync()
    } catch (error) {
      mustCut = !(await cutTo(handle, size))
      throw toStorageError(error, 'append to', path)
    }
    size += batch.bytes.length
    totals = batch.totals
    chain = batch.chain
    for (const [id, offset] of batch.offsets) offsets.set(id, offset)
  }

  return {
    append: (entries) => {
      const done = queue.then(() => appendNow(entries))
      // The caller of a failed append gets the error; appends after it in the queue continue.
      queue = done.catch(() => undefined)
      return done
    },
    size: () => size,
    totals: () => plainTotals(totals),
  }
}

interface Batch {
  readonly bytes: Buffer
  readonly offsets: ReadonlyMap<EntryId, number>
  readonly totals: RunningTotals
  readonly chain: ChainEnd
}

function encodeBatch(entries: readonly Entry[], before: AppenderStart): Batch {
  const offsets = new Map<EntryId, number>()
  const lines: Buffer[] = []
  let { size: offset, totals, chain } = before
  for (const entry of entries) {
    const costUsd = entry.kind === 'message' || entry.kind === 'spent' ? before.costOf(entry) : 0
    totals = addToTotals(totals, entry, costUsd)
    const known = (id: EntryId): number | undefined => offsets.get(id) ?? before.offsets.get(id)
    chain = extendChain(chain, entry, offset)
    const placed = withOffsets(entry, known, chain)
    const line = encodeEntry(placed, { ...before.envelope, totals: plainTotals(totals) })
    const bytes = Buffer.from(`${line}\n`, 'utf8')
    offsets.set(entry.id, offset)
    offset += bytes.length
    lines.push(bytes)
  }
  return { bytes: Buffer.concat(lines), offsets, totals, chain }
}

/** After a rewind, the prefix in force is unknown until the next one. */
function extendChain(chain: ChainEnd, entry: Entry, offset: number): ChainEnd {
  if (entry.sidechain) return chain
  if (entry.kind === 'prefix') return { leaf: entry.id, prefixOffset: offset }
  return entry.parent === chain.leaf ? { ...chain, leaf: entry.id } : { leaf: entry.id }
}

/** Only the file knows where a line begins. */
function withOffsets(
  entry: Entry,
  offsetOf: (id: EntryId) => number | undefined,
  { prefixOffset }: ChainEnd,
): Entry {
  if (entry.kind !== 'boundary') return entry
  const keptOffset = entry.kept && offsetOf(entry.kept.head)
  const known = {
    ...(keptOffset !== undefined && { keptOffset }),
    ...(prefixOffset !== undefined && { prefixOffset }),
  }
  return { ...entry, meta: { ...known, ...entry.meta } }
}

/** The file must not have been deleted, or grown without us: writing on would lose lines, ours or theirs. */
async function requireOwnFile(handle: FileHandle, path: string, size: number): Promise<void> {
  const now = await handle.stat()
  if (now.nlink === 0) {
    throw new StorageError(
      'not-found',
      `${path} was deleted while it was open. Start a new session or restore it`,
    )
  }
  if (now.size !== size) {
    const text = `${path} was changed by another program while it was open. Resume the session to continue`
    throw new StorageError('io', text)
  }
}

async function writeWhole(
  { handle, writeAt = writePlain }: AppenderStart,
  bytes: Buffer,
  position: number,
): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const count = await writeAt(handle, bytes.subarray(written), position + written)
    if (count <= 0) throw new StorageError('io', 'the disk took no bytes. Check it and try again')
    written += count
  }
}

/** Undoes a write that failed midway. False if that failed too: it is then done before the next append. */
async function cutTo(handle: FileHandle, size: number): Promise<boolean> {
  try {
    await handle.truncate(size)
    return true
  } catch {
    return false
  }
}

async function writePlain(handle: FileHandle, bytes: Uint8Array, position: number): Promise<number> {
  return (await handle.write(bytes, 0, bytes.length, position)).bytesWritten
}
