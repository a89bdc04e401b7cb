import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StorageError, UsageError, type StorageFailure } from '../../errors.ts'

interface Reason {
  readonly failure: StorageFailure
  /** What is wrong and what to do about it. */
  readonly text: string
}

const NO_ROOM: Reason = {
  failure: 'disk-full',
  text: 'no room is left on the disk. Free some space and try again',
}
const NOT_ALLOWED: Reason = {
  failure: 'no-permission',
  text: 'the file system does not allow it. Check owner and mode of the file and of its folder, or choose another PALIMPSEST_HOME',
}
const ABSENT: Reason = { failure: 'not-found', text: 'there is no such file or folder' }

const REASONS: { readonly [code: string]: Reason } = {
  ENOSPC: NO_ROOM,
  EDQUOT: NO_ROOM,
  EFBIG: {
    failure: 'disk-full',
    text: 'the file has reached the largest size allowed. Raise the limit or continue in a new session',
  },
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EROFS: {
    failure: 'no-permission',
    text: 'the disk is read-only. Make it writable or choose another PALIMPSEST_HOME',
  },
  ELOOP: {
    failure: 'no-permission',
    text: 'it is a symbolic link, and those are not followed. Put a real file or folder in its place',
  },
  ENOENT: ABSENT,
  ENOTDIR: {
    failure: 'not-found',
    text: 'a part of the path is a file, not a folder. Move that file away or choose another PALIMPSEST_HOME',
  },
  EEXIST: { failure: 'io', text: 'there is already a file of that name' },
  EISDIR: { failure: 'not-a-transcript', text: 'it is a folder. Move it away' },
  ENAMETOOLONG: {
    failure: 'io',
    text: 'the path is too long for this file system. Choose a shorter PALIMPSEST_HOME',
  },
  EMFILE: {
    failure: 'io',
    text: 'too many files are open. Close some programs or raise the limit (ulimit -n)',
  },
}

/** Turns any disk failure into a `StorageError` that names the path and what to do. Our own errors stay as they are. */
export function toStorageError(error: unknown, action: string, path: string): Error {
  if (error instanceof StorageError || error instanceof UsageError) return error
  const code = errorCode(error)
  if (code === 'ENOTDIR') {
    const inTheWay = findFileOnWay(path)
    if (inTheWay !== undefined)
      return new StorageError(
        'not-found',
        `cannot ${action} ${path}: ${inTheWay} is not a folder. Move it away, or choose another PALIMPSEST_HOME`,
        {
          cause: error,
        },
      )
  }
  const reason = code === undefined ? undefined : REASONS[code]
  const text = reason?.text ?? `the disk failed (${code ?? String(error)}). Check it and try again`
  return new StorageError(reason?.failure ?? 'io', `cannot ${action} ${path}: ${text}`, { cause: error })
}

/** The part of a path that should be a folder and is not. Only searched after something has failed. */
function findFileOnWay(path: string): string | undefined {
  for (let at = dirname(path); dirname(at) !== at; at = dirname(at)) {
    try {
      return statSync(at).isDirectory() ? undefined : at
    } catch {
      // Try further up.
    }
  }
  return undefined
}

export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = errorCode(error)
  return code !== undefined && codes.includes(code)
}
