import { constants, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { StorageError } from '../../errors.ts'

// Files in places where users and other programs can put anything. Only plain files are read, and nothing waits for a pipe.

/** Largest file that is read at once: settings, instructions, git's own files. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024

/** Throws the system's error, mostly `ENOENT`, or a `StorageError` if something other than a file is there. */
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

/** What is in place of a file, for an error message. */
export function kindOfFile(found: Stats): string {
  if (found.isDirectory()) return 'a folder'
  if (found.isFIFO()) return 'a pipe'
  if (found.isSocket()) return 'a socket'
  return found.isFile() ? 'a file' : 'a device'
}
