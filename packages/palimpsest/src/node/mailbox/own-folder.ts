import { constants, type Stats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../../errors.ts'

// What protects a socket. A peer cannot be asked who it is, so no one else may reach it: the folder and the socket belong to this user
// alone, and no link leads elsewhere. A sender also proves that it can read a key that only this user can read.

const OTHERS = 0o077
const KEY_BYTES_MAX = 256

/** Throws unless the folder belongs to this user alone. */
export async function requireOwnFolder(folder: string): Promise<void> {
  const found = await lstat(folder)
  if (found.isSymbolicLink() || !found.isDirectory())
    throw new UsageError(`${folder} is no folder: no message goes there. Move it away`)
  requireOwn(folder, found)
}

/** Throws unless there is a socket of this user, in a folder that belongs to this user alone. */
export async function requireOwnSocket(path: string): Promise<void> {
  await requireOwnFolder(dirname(path))
  const found = await lstat(path)
  if (!found.isSocket()) throw new UsageError(`${path} is no socket`)
  requireOwn(path, found)
}

export async function readOwnKey(path: string): Promise<string> {
  // Without O_NONBLOCK, a named pipe in its place would wait forever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const found = await handle.stat()
    if (!found.isFile() || found.size > KEY_BYTES_MAX) throw new UsageError(`${path} is no key`)
    requireOwn(path, found)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

function requireOwn(path: string, { uid, mode }: Stats): void {
  const self = process.getuid?.()
  if (self !== undefined && uid !== self)
    throw new UsageError(`${path} belongs to another user: no message goes there`)
  if ((mode & OTHERS) !== 0)
    throw new UsageError(`others can reach ${path}: no message goes there. \`chmod go= ${path}\` closes it`)
}
