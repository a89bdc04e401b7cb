import { relative } from 'node:path'

import { toPrintable } from '../../agent/printable.ts'

/** As a file is named from here: below the folder, below the user's home, or by its whole path. */
export function shownPath(path: string, cwd: string, userHome?: string): string {
  const near = relative(cwd, path)
  if (near !== '' && !near.startsWith('..')) return toPrintable(near)
  const isOwn = userHome !== undefined && path.startsWith(`${userHome}/`)
  return toPrintable(isOwn ? `~${path.slice(userHome.length)}` : path)
}
