import { isAbsolute } from 'node:path'

import { Refusal } from '../refusal.ts'

export interface PathBase {
  /** Relative paths start here. */
  readonly cwd: string
  /** What `~` stands for. */
  readonly home: string
}

const PATH_CHARS_MAX = 4096

/**
 * Makes a path from a model absolute. Does not follow links, and keeps `..`: where it leads depends on the links before it; see
 * `realPathOf`.
 */
export function toAbsolutePath(path: string, base: PathBase): string {
  if (path === '') throw new Refusal('The path is empty. Give the path of a file or folder.')
  if (path.includes('\0')) throw new Refusal('The path contains a NUL character. Give a plain path.')
  if (path.length > PATH_CHARS_MAX) throw new Refusal(`The path is longer than ${PATH_CHARS_MAX} characters.`)
  return expandPath(path, base)
}

/** The same without checking the text. */
export function expandPath(path: string, { cwd, home }: PathBase): string {
  if (path === '~') return home
  if (path.startsWith('~/')) return inFolder(home, path.slice(2))
  return isAbsolute(path) ? path : inFolder(cwd, path)
}

function inFolder(folder: string, path: string): string {
  const plain = path.replace(/^(\.\/+)+/, '')
  if (plain === '' || plain === '.') return folder
  return folder.endsWith('/') ? `${folder}${plain}` : `${folder}/${plain}`
}
