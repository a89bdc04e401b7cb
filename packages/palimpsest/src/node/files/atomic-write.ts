import { constants } from 'node:fs'
import { link, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { StorageError } from '../../errors.ts'
import { openInside } from './inside-home.ts'
import { hasCode, toStorageError } from './to-storage-error.ts'

// A file appears complete or not at all. A reader never sees a part of it.

/** The content, or a function that writes it if it is too large to hold in memory. */
export type Content = string | Uint8Array | ((file: FileHandle) => Promise<void>)

/** `durable`: on disk when the promise resolves, even after a power failure. `fleeting`: for files that do not outlive their process. */
export type Lasting = 'durable' | 'fleeting'

/** Writes the file and replaces whatever is there. */
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

/** False if something is already there; nothing changes then. Of several concurrent calls, exactly one returns true. */
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

/** Makes a name in a folder durable: without this, a power failure may lose the name though the content is on disk. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    // Some systems cannot open or sync folders. Nothing more can be done there.
    if (!hasCode(error, 'EINVAL', 'ENOTSUP', 'EISDIR', 'EPERM')) throw error
  }
}

interface NewFile {
  readonly home: string
  readonly path: string
  readonly content: Content
  readonly lasting: Lasting
}

/** What happened to the temporary file. `copied`: it still exists. */
type Placed = 'moved' | 'copied' | 'refused'

/** File names have at most 255 bytes; a UUID and more follow this part. */
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
    // The error should name the file, not the temporary one.
    const cause = error instanceof StorageError && error.message.includes(name) ? error.cause : error
    throw toStorageError(cause ?? error, 'write', path)
  } finally {
    // If it stays, it is a hidden file that does no harm.
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

/** For file systems without hard links. For a moment, a reader may see the file before its content. */
async function createWithoutLinks(file: NewFile): Promise<Placed> {
  try {
    await writeNew(file)
    return 'copied'
  } catch (error) {
    if (hasCode(error instanceof Error ? error.cause : error, 'EEXIST')) return 'refused'
    throw error
  }
}
