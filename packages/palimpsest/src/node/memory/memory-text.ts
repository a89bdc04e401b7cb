import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { StorageError } from '../../errors.ts'
import { openInside } from '../files/inside-home.ts'
import { kindOfFile } from '../files/plain-file.ts'
import { toStorageError } from '../files/to-storage-error.ts'

/** Many times what a memory comes to. */
export const MEMORY_BYTES_MAX = 1 << 20

export type MemoryText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unusable'; readonly why: string }

/** A text that is read is written back byte for byte. Links, folders and what is no text are left alone. */
export async function readMemoryText(home: string, path: string): Promise<MemoryText> {
  try {
    const handle = await openInside(home, path, constants.O_RDONLY)
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
