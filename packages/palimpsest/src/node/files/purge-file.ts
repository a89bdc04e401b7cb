import { Buffer } from 'node:buffer'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

import { writeAtomically } from './atomic-write.ts'
import { openInside } from './inside-home.ts'

// Takes a text out of a file. What stands in its place has as many bytes, so that lengths and places that other files tell stay true. The
// file is replaced whole: whenever the program is ended, it is as it was, or without the text.

const CHUNK_BYTES = 1 << 20
const MARK = '[purged]'
/** In names: they are made of letters, digits and dashes. */
const NAME_MARK = 'purged'

/** One way in which the text may stand in a file, and what replaces it: as many bytes. */
export interface PurgedForm {
  readonly find: Buffer
  readonly mark: string
}

/** The text as it may stand in files: as it is, inside of JSON, once and twice, and as names spell it. */
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

/** The name without what it spells. */
export function purgedName(name: string, inNames: string): string {
  return name.replaceAll(inNames, toForm(inNames, NAME_MARK).mark)
}

/** How often the text stood there. Zero: the file is as it was. `before`: where it stands there, and before it is taken out. */
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
      // Who sorts by time finds it where it was.
      await file.utimes(found.atime, found.mtime)
    })
    return count
  } finally {
    await handle.close()
  }
}

/** Whether a file holds the text. */
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

/** The file piece by piece; what may be the beginning of the text waits for the next piece. */
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
