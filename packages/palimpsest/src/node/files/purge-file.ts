import { Buffer } from 'node:buffer'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

import { writeAtomically } from './atomic-write.ts'
import { openInside } from './inside-home.ts'

// Takes a text out of a file. What stands in its place has as many bytes, so that lengths and places that other files tell stay true. The
// file is replaced whole: whenever the program is ended, it is as it was, or without the text.

const CHUNK_BYTES = 1 << 20
const MARK = '[purged]'

/** The text as it may stand in files: as it is, and inside of JSON, once and twice. */
export function formsOf(text: string): readonly Buffer[] {
  const inJson = JSON.stringify(text).slice(1, -1)
  const inJsonTwice = JSON.stringify(inJson).slice(1, -1)
  return [...new Set([text, inJson, inJsonTwice])].map((form) => Buffer.from(form, 'utf8'))
}

/** How often the text stood there. Zero: the file is as it was. `before`: where it stands there, and before it is taken out. */
export async function purgeFile(
  home: string,
  path: string,
  forms: readonly Buffer[],
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
export async function holdsText(home: string, path: string, forms: readonly Buffer[]): Promise<boolean> {
  const handle = await openInside(home, path, constants.O_RDONLY)
  try {
    return (await handle.stat()).isFile() && (await countIn(handle, forms)) > 0
  } finally {
    await handle.close()
  }
}

async function countIn(handle: FileHandle, forms: readonly Buffer[]): Promise<number> {
  let count = 0
  for await (const { replaced } of purged(handle, forms)) count += replaced
  return count
}

interface Piece {
  readonly bytes: Buffer
  readonly replaced: number
}

/** The file piece by piece; what may be the beginning of the text waits for the next piece. */
async function* purged(handle: FileHandle, forms: readonly Buffer[]): AsyncGenerator<Piece> {
  const held = Math.max(...forms.map((form) => form.length)) - 1
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

function replaceIn(bytes: Buffer, forms: readonly Buffer[]): number {
  let count = 0
  for (const form of forms) {
    const mark = MARK.padEnd(form.length, 'x').slice(0, form.length)
    for (let at = bytes.indexOf(form); at !== -1; at = bytes.indexOf(form, at + form.length)) {
      bytes.write(mark, at, 'latin1')
      count++
    }
  }
  return count
}
