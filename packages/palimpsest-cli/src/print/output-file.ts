import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'

import { UsageError } from 'palimpsest'
import { toStorageError } from 'palimpsest/node'

import { systemCode } from '../agent/files/system-code.ts'

// Files that a flag names: reports and exports. The folder may belong to anyone, so a link in it must not decide what is overwritten.

/** Sessions are private. */
const FILE_MODE = 0o600

/** Writes the file from its beginning, in place of any old content. Throws a `UsageError` that names the flag. */
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

/** Checked before the work begins: the old content stays until there is a replacement. */
export async function checkOutputFile(flag: string, path: string): Promise<void> {
  await (await openWith(flag, path, 0)).close()
}

async function openWith(flag: string, path: string, more: number): Promise<FileHandle> {
  // Channels like /dev/stdout are links too, made by the system. A pipe that no one reads would block forever.
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
      return 'it is a symbolic link, and writing would overwrite the file that it leads to'
    case 'ENXIO':
      return 'it is a pipe that nobody reads'
    case 'EISDIR':
      return 'it is a folder'
    case 'ENOENT':
    case 'ENOTDIR':
      return 'its folder does not exist'
    default:
      return `it cannot be written${code === undefined ? '' : ` (${code})`}`
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}
