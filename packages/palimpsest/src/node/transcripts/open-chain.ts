import type { FileHandle } from 'node:fs/promises'
import { newestLeaf, walkChain } from '../../transcript/chain-of.ts'
import type { Entry } from '../../transcript/entry.ts'
import { decodeBytes, openToRead, readBytes } from './file-lines.ts'
import { findEnd } from './find-end.ts'
import { linesFromEnd, type LineSpan } from './lines-from-end.ts'

// A whole conversation, from its first line to its newest, across every boundary. Only the places of its lines are in memory: each line is
// read when it is needed, whatever the size of the file.

export interface ChainReader {
  /** Entries on the chain. */
  readonly count: number
  /** The kind of each entry, oldest first, as far as the line's first bytes show it. */
  readonly kindAt: (place: number) => Entry['kind'] | undefined
  /** Undefined if the line can no longer be read. */
  readonly entryAt: (place: number) => Promise<Entry | undefined>
  /** The line as it is in the file; for looking through many. */
  readonly lineAt: (place: number) => Promise<string>
  readonly close: () => Promise<void>
}

interface PlacedLine extends LineSpan {
  readonly kind: Entry['kind']
}

/** For reading only. Lines written later are not seen. */
export async function openChain(path: string): Promise<ChainReader> {
  const handle = await openToRead(path)
  try {
    const lines = await placeLines(handle)
    const bytesAt = async (place: number): Promise<Buffer> => {
      const { offset, length } = lines[place] ?? { offset: 0, length: 0 }
      return await readBytes(handle, offset, offset + length)
    }
    return {
      count: lines.length,
      kindAt: (place) => lines[place]?.kind,
      entryAt: async (place) => {
        const entry = decodeBytes(await bytesAt(place))
        return entry.kind === 'problem' ? undefined : entry
      },
      lineAt: async (place) => (await bytesAt(place)).toString('utf8'),
      close: async () => await handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function placeLines(handle: FileHandle): Promise<readonly PlacedLine[]> {
  const { size } = await handle.stat()
  const { lastEnd } = await findEnd(handle, size)
  const found = []
  for await (const line of linesFromEnd(handle, lastEnd)) if ('link' in line) found.push(line)
  const lines = found.toReversed()
  const links = lines.map(({ link }) => link)
  const leaf = newestLeaf(links)
  if (leaf === undefined) return []
  return walkChain(links, leaf).places.flatMap((place) => {
    const line = lines[place]
    return line ? [{ offset: line.offset, length: line.length, kind: line.link.kind }] : []
  })
}
