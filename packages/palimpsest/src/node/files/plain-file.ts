import { constants, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { StorageError } from '../../errors.ts'

// Files that lie where users and other programs can put anything. Nothing but a plain file is read, and nobody waits for a pipe.

/** Of files that are read whole: settings, instructions, what Git says of itself. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024

/** Throws what the system says, `ENOENT` above all; a `StorageError` where something else than a file stands there. */
export async function openPlainFile(path: string): Promise<FileHandle> {
  return (await openFound(path)).handle
}

async function openFound(path: string): Promise<{ readonly handle: FileHandle; readonly size: number }> {
  // Without O_NONBLOCK a named pipe would wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const found = await handle.stat()
  if (found.isFile()) return { handle, size: found.size }
  await handle.close()
  throw new StorageError('io', `${path} is ${kindOfFile(found)}, not a file. Move it away`)
}

export async function readPlainFile(path: string, bytesMax = WHOLE_BYTES_MAX): Promise<Buffer> {
  const { handle, size } = await openFound(path)
  try {
    if (size > bytesMax)
      throw new StorageError('io', `${path} is larger than ${bytesMax} bytes, and is not read. Move it away`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

export async function readPlainText(path: string, bytesMax = WHOLE_BYTES_MAX): Promise<string> {
  return (await readPlainFile(path, bytesMax)).toString('utf8')
}

/** What stands where a file should be, for a sentence. */
export function kindOfFile(found: Stats): string {
  if (found.isDirectory()) return 'a folder'
  if (found.isFIFO()) return 'a pipe'
  if (found.isSocket()) return 'a socket'
  return found.isFile() ? 'a file' : 'a device'
}
