import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

// Anyone who can write in the home can write settings with hooks, and rules that allow everything: that amounts to the user's own rights.
// We only warn and refuse nothing, because people on a shared disk must be able to work.

const GROUP_OR_OTHERS_WRITE = 0o022
const OTHERS_WRITE = 0o002
/** In a folder with this bit, such as /tmp, only the owner of an entry can remove or rename it. */
const STICKY = 0o1000
const ROOT = 0
/** More levels than any real path has. */
const DEPTH_MAX = 256

/** Why another user may write in the home, and how to fix it. Undefined if no one else can, or if there is no home yet. */
export async function findHomeRisk(home: string, uid = process.getuid?.()): Promise<string | undefined> {
  const real = await realpath(home).catch(() => undefined)
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined)
  // Where users have no numeric ids, modes mean nothing either.
  if (real === undefined || found === undefined || uid === undefined) return undefined
  if (found.uid !== uid && found.uid !== ROOT)
    return `${real} belongs to another user, who can change your settings and what you allowed. Set PALIMPSEST_HOME to a folder of your own`
  if ((found.mode & GROUP_OR_OTHERS_WRITE) !== 0)
    return `others can write in ${real}, and so change your settings and what you allowed: run chmod 700 ${real}`
  return await findParentRisk(real, uid)
}

async function findParentRisk(home: string, uid: number): Promise<string | undefined> {
  let at = home
  for (let depth = 0; depth < DEPTH_MAX && dirname(at) !== at; depth++) {
    at = dirname(at)
    const found = await stat(at).catch(() => undefined)
    if (found === undefined) return undefined
    const isOpen = (found.mode & OTHERS_WRITE) !== 0 && (found.mode & STICKY) === 0
    const isForeign = found.uid !== uid && found.uid !== ROOT
    if (isOpen || isForeign)
      return `others can write in ${at}, and so put another folder in place of ${home}: run chmod o-w ${at}, or set PALIMPSEST_HOME to a folder of your own`
  }
  return undefined
}
