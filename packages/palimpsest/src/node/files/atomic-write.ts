import { constants } from 'node:fs'
import { link, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { StorageError } from '../../errors.ts'
import { openInside } from './inside-home.ts'
import { hasCode, toStorageError } from './to-storage-error.ts'

// A file appears whole or not at all. A reader never sees a part of it.

/** All of it, or a function that writes it, for what is too large to hold. */
export type Content = string | Uint8Array | ((file: FileHandle) => Promise<void>)

/** `durable`: on the disk when the promise resolves, power failure or not. `fleeting`: for what dies with its process. */
export type Lasting = 'durable' | 'fleeting'

/** Puts the file in place of whatever stands there. */
export async function writeAtomically(
  home: string,
  path: string,
  content: Content,
  lasting: Lasting = 'durable',
): Promise<void> {
  await throughTemporary({ home, path, content, lasting }, async (temporary) => {
    await rename(temporary, path)
    return 'moved'
  })
}

/** False where something stands there already; then nothing is changed. Of many who try at once, one gets true. */
export function createExclusively(
  home: string,
  path: string,
  content: Content,
  lasting: Lasting = 'durable',
): Promise<boolean> {
  const file = { home, path, content, lasting }
  return throughTemporary(file, async (temporary) => {
    try {
      // A hard link, unlike a rename, replaces nothing.
      await link(temporary, path)
      return 'copied'
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return 'refused'
      if (hasCode(error, 'EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP')) return createWithoutLinks(file)
      throw error
    }
  })
}

/** Makes a name in a folder durable: the content alone is not found again after a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    // Some systems cannot open or sync folders. There is nothing more to be done on them.
    if (!hasCode(error, 'EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM')) throw error
  }
}

interface NewFile {
  readonly home: string
  readonly path: string
  readonly content: Content
  readonly lasting: Lasting
}

/** What became of the temporary file: `copied`, it is still there too. */
type Placed = 'moved' | 'copied' | 'refused'

/** File names have at most 255 bytes; a UUID and the rest go behind this part. */
const NAME_CHARS_MAX = 100

async function throughTemporary(
  file: NewFile,
  place: (temporary: string) => Promise<Placed>,
): Promise<boolean> {
  const { path, lasting } = file
  const name = `.${basename(path).slice(0, NAME_CHARS_MAX)}.${randomUUID()}.tmp`
  const temporary = join(dirname(path), name)
  let isLeft = true
  try {
    await writeNew({ ...file, path: temporary })
    const placed = await place(temporary)
    isLeft = placed !== 'moved'
    if (placed !== 'refused' && lasting === 'durable') await syncFolder(dirname(path))
    return placed !== 'refused'
  } catch (error) {
    // The temporary file is nobody's concern.
    const cause = error instanceof StorageError && error.message.includes(name) ? error.cause : error
    throw toStorageError(cause ?? error, 'write', path)
  } finally {
    // Should it stay, it is a hidden file that does no harm.
    if (isLeft) await unlink(temporary).catch(() => undefined)
  }
}

async function writeNew({ home, path, content, lasting }: NewFile): Promise<void> {
  const handle = await openInside(home, path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL)
  try {
    if (typeof content === 'function') await content(handle)
    else await handle.writeFile(content)
    if (lasting === 'durable') await handle.sync()
  } finally {
    await handle.close()
  }
}

/** For file systems without hard links. A reader may see the file before its content, for an instant. */
async function createWithoutLinks(file: NewFile): Promise<Placed> {
  try {
    await writeNew(file)
    return 'copied'
  } catch (error) {
    if (hasCode(error instanceof Error ? error.cause : error, 'EEXIST')) return 'refused'
    throw error
  }
}
