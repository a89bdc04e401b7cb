import { Buffer } from 'node:buffer'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

import { writeAtomically } from './atomic-write.ts'
import { openInside } from './inside-home.ts'

// Removes a text from a file. Its replacement has the same number of bytes, so that lengths and offsets recorded in other files stay valid.
// The file is replaced as a whole: if the program is ended at any moment, the file is either unchanged or free of the text.

const CHUNK_BYTES = 1 << 20
const MARK = '[purged]'
/** In names, which consist of letters, digits and dashes. */
const NAME_MARK = 'purged'

/** One form in which the text may appear in a file, and its replacement of the same length. */
export interface PurgedForm {
  readonly find: Buffer
  readonly mark: string
}

/** The forms in which the text may appear in files: plain, escaped in JSON once and twice, and as names spell it. */
export function formsOf(text: string, inNames?: string): readonly PurgedForm[] {
  const inJson = JSON.stringify(text).slice(1, -1)
  const inJsonTwice = JSON.stringify(inJson).slice(1, -1)
  const asText = [...new Set([text, inJson, inJsonTwice])].map((form) => toForm(form, MARK))
  return inNames === undefined ? asText : [toForm(inNames, NAME_MARK), ...asText]
}

function toForm(form: string, mark: string): PurgedForm {
  const find = Buffer.from(form, 'utf8')
  return { find, mark: mark.padEnd(find.length, 'x').slice(0, find.length) }
}

/** The name, with the part that spells the text replaced. */
export function purgedName(name: string, inNames: string): string {
  return name.replaceAll(inNames, toForm(inNames, NAME_MARK).mark)
}

/** Returns how often the text occurred. Zero: the file is unchanged. `before` runs if the text was found, before it is removed. */
export async function purgeFile(
  home: string,
  path: string,
  forms: readonly PurgedForm[],
  before: () => Promise<void>,
): Promise<number> {
  const handle = await openInside(home, path, constants.O_RDONLY)
  try {
    const found = await handle.stat()
    if (!found.isFile() || (await countIn(handle, forms)) === 0) return 0
    await before()
    let count = 0
    await writeAtomically(home, path, async (file) => {
      for await (const { bytes, replaced } of purged(handle, forms)) {
        count += replaced
        await file.appendFile(bytes)
      }
      // Keeps the file's place when sorted by time.
      await file.utimes(found.atime, found.mtime)
    })
    return count
  } finally {
    await handle.close()
  }
}

/** Whether a file contains the text. */
export async function holdsText(home: string, path: string, forms: readonly PurgedForm[]): Promise<boolean> {
  const handle = await openInside(home, path, constants.O_RDONLY)
  try {
    return (await handle.stat()).isFile() && (await countIn(handle, forms)) > 0
  } finally {
    await handle.close()
  }
}

async function countIn(handle: FileHandle, forms: readonly PurgedForm[]): Promise<number> {
  let count = 0
  for await (const { replaced } of purged(handle, forms)) count += replaced
  return count
}

interface Piece {
  readonly bytes: Buffer
  readonly replaced: number
}

/** Yields the file piece by piece; a possible beginning of the text at the end of a piece is kept for the next one. */
async function* purged(handle: FileHandle, forms: readonly PurgedForm[]): AsyncGenerator<Piece> {
  const held = Math.max(...forms.map(({ find }) => find.length)) - 1
  let rest = Buffer.alloc(0)
  for (let at = 0; ;) {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, at)
    at += bytesRead
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
    const replaced = replaceIn(bytes, forms)
    if (bytesRead === 0) {
      yield { bytes, replaced }
      return
    }
    const end = Math.max(0, bytes.length - held)
    yield { bytes: bytes.subarray(0, end), replaced }
    rest = bytes.subarray(end)
  }
}

function replaceIn(bytes: Buffer, forms: readonly PurgedForm[]): number {
  let count = 0
  for (const { find, mark } of forms)
    for (let at = bytes.indexOf(find); at !== -1; at = bytes.indexOf(find, at + find.length)) {
      bytes.write(mark, at, 'latin1')
      count++
    }
  return count
}
