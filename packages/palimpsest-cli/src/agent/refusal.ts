import { systemCode } from './files/system-code.ts'

/** A message for the model: thrown inside a tool, and returned as its result. The text says what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

const REASONS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'something of that name is in the way',
  EACCES: 'the file system does not allow it (owner or mode)',
  EPERM: 'the file system does not allow it (owner or mode)',
  EROFS: 'the disk is read-only',
  ENOSPC: 'no room is left on the disk',
  EDQUOT: 'no room is left on the disk',
  ELOOP: 'symbolic links lead in a circle, or a link stands where none may be',
  ENAMETOOLONG: 'the path is too long for the file system',
  EMFILE: 'too many files are open',
  EBUSY: 'something holds it (a mount point?)',
}

/** Turns a system error into a refusal that names the path; returns any other error unchanged. */
export function toRefusal(error: unknown, action: string, path: string): unknown {
  const code = systemCode(error)
  if (error instanceof Refusal || code === undefined) return error
  return new Refusal(`Cannot ${action} ${path}: ${REASONS[code] ?? code}.`, { cause: error })
}

/** Why the system refused, in words. */
export function reasonOf(error: unknown): string {
  const code = systemCode(error)
  return code === undefined ? String(error) : (REASONS[code] ?? code)
}
