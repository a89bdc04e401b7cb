import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'

import { UsageError } from 'palimpsest'
import { toStorageError } from 'palimpsest/node'

import { systemCode } from '../agent/files/system-code.ts'

// Files that a flag names: reports and exports. The folder may be anybody's, and a link that lies there must not decide what is
// overwritten.

/** What sessions said is nobody else's to read. */
const FILE_MODE = 0o600

/** Writes it from its beginning on; what stood there is gone. Throws a `UsageError` that names the flag. */
export async function writeOutputFile(
  flag: string,
  path: string,
  parts: string | AsyncIterable<string>,
): Promise<void> {
  const file = await openWith(flag, path, constants.O_TRUNC)
  try {
    await file.writeFile(parts)
  } catch (error) {
    throw systemCode(error) === undefined ? error : toStorageError(error, 'write', path)
  } finally {
    await file.close()
  }
}

/** Tried before the work begins: what stands there stays until there is something else. */
export async function checkOutputFile(flag: string, path: string): Promise<void> {
  await (await openWith(flag, path, 0)).close()
}

async function openWith(flag: string, path: string, more: number): Promise<FileHandle> {
  // Channels like /dev/stdout are links too, of the system's own making. A pipe that nobody reads would wait for ever.
  const follows = isBelow('/dev', path) ? 0 : constants.O_NOFOLLOW | constants.O_NONBLOCK
  try {
    return await open(path, constants.O_WRONLY | constants.O_CREAT | follows | more, FILE_MODE)
  } catch (error) {
    throw new UsageError(`${flag} ${path}: ${reasonOf(systemCode(error))}. Name another file`, {
      cause: error,
    })
  }
}

function reasonOf(code: string | undefined): string {
  switch (code) {
    case 'ELOOP':
      return 'it is a symbolic link, and what it leads to would be overwritten'
    case 'ENXIO':
      return 'it is a pipe that nobody reads'
    case 'EISDIR':
      return 'it is a folder'
    case 'ENOENT':
    case 'ENOTDIR':
      return 'its folder is not there'
    default:
      return `it cannot be written${code === undefined ? '' : ` (${code})`}`
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}
