import { join, resolve } from 'node:path'

import { Refusal } from '../refusal.ts'

export interface PathBase {
  /** Where relative paths begin. */
  readonly cwd: string
  /** What `~` stands for. */
  readonly home: string
}

const PATH_CHARS_MAX = 4096

/** A path as a model writes it, absolute. Links are not followed; see `realPathOf`. */
export function toAbsolutePath(path: string, { cwd, home }: PathBase): string {
  if (path === '') throw new Refusal('The path is empty. Give the path of a file or folder.')
  if (path.includes('\0')) throw new Refusal('The path contains a NUL character. Give a plain path.')
  if (path.length > PATH_CHARS_MAX) throw new Refusal(`The path is longer than ${PATH_CHARS_MAX} characters.`)
  if (path === '~') return home
  if (path.startsWith('~/')) return join(home, path.slice(2))
  return resolve(cwd, path)
}
