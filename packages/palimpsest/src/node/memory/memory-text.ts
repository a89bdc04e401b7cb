import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { StorageError } from '../../errors.ts'
import { createInsideOpener, openInside } from '../files/inside-home.ts'
import { kindOfFile } from '../files/plain-file.ts'
import { toStorageError } from '../files/to-storage-error.ts'

/** Many times the size of a memory. */
export const MEMORY_BYTES_MAX = 1 << 20

export type MemoryText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unusable'; readonly why: string }

/** A text that is read here is written back byte for byte. Links, folders and files that are not text are left alone. */
export async function readMemoryText(home: string, path: string): Promise<MemoryText> {
  return await readText(path, async () => await openInside(home, path, constants.O_RDONLY))
}

/** Fewer than the files that a process may have open. */
const AT_ONCE = 16

/** The same for many files, in their order; checks each folder once. */
export async function readMemoryTexts(
  home: string,
  paths: readonly string[],
): Promise<readonly MemoryText[]> {
  const opener = createInsideOpener(home)
  const texts: MemoryText[] = []
  for (let i = 0; i < paths.length; i += AT_ONCE)
    texts.push(
      ...(await Promise.all(
        paths
          .slice(i, i + AT_ONCE)
          .map(async (path) => await readText(path, async () => await opener.open(path))),
      )),
    )
  if (await opener.isStillInside()) return texts
  return await Promise.all(paths.map(async (path) => await readMemoryText(home, path)))
}

async function readText(path: string, open: () => Promise<FileHandle>): Promise<MemoryText> {
  try {
    const handle = await open()
    try {
      const found = await handle.stat()
      if (!found.isFile()) return { kind: 'unusable', why: `it is ${kindOfFile(found)}` }
      if (found.size > MEMORY_BYTES_MAX)
        return { kind: 'unusable', why: `it is over ${MEMORY_BYTES_MAX} bytes` }
      const bytes = await handle.readFile()
      if (!isUtf8(bytes) || bytes.includes(0)) return { kind: 'unusable', why: 'it is no text' }
      return { kind: 'text', text: bytes.toString('utf8') }
    } finally {
      await handle.close()
    }
  } catch (error) {
    const failed = toStorageError(error, 'read', path)
    if (!(failed instanceof StorageError)) throw failed
    if (failed.failure === 'not-found') return { kind: 'absent' }
    if (failed.failure === 'no-permission')
      return { kind: 'unusable', why: 'it is a link, or not ours to read' }
    throw failed
  }
}
