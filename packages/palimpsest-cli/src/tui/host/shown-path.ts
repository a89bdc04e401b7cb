import { relative } from 'node:path'

import { toPrintable } from '../../agent/printable.ts'

/** A short name for a file: relative to the folder, relative to the user's home, or the whole path. */
export function shownPath(path: string, cwd: string, userHome?: string): string {
  const near = relative(cwd, path)
  if (near !== '' && !near.startsWith('..')) return toPrintable(near)
  const isOwn = userHome !== undefined && path.startsWith(`${userHome}/`)
  return toPrintable(isOwn ? `~${path.slice(userHome.length)}` : path)
}
