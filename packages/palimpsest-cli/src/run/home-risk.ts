import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

// Who can write in the home can write settings with hooks in it, and rules that allow everything: that is the user's own rights. Nothing
// is refused because of it, since the work of somebody on a shared disk must go on; it is said.

const GROUP_OR_OTHERS_WRITE = 0o022
const OTHERS_WRITE = 0o002
/** In a folder that has it, only the owner of an entry removes or renames it: /tmp. */
const STICKY = 0o1000
const ROOT = 0
/** More than any real path has. */
const DEPTH_MAX = 256

/** Why somebody else may write in the home, with the cure; undefined where nobody can, or where there is none yet. */
export async function findHomeRisk(home: string, uid = process.getuid?.()): Promise<string | undefined> {
  const real = await realpath(home).catch(() => undefined)
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined)
  // Where users have no numbers, modes say nothing either.
  if (real === undefined || found === undefined || uid === undefined) return undefined
  if (found.uid !== uid && found.uid !== ROOT)
    return `${real} belongs to another user, who can change your settings and what you allowed. Set PALIMPSEST_HOME to a folder of your own`
  if ((found.mode & GROUP_OR_OTHERS_WRITE) !== 0)
    return `others can write in ${real}, and so change your settings and what you allowed: chmod 700 ${real}`
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
      return `others can write in ${at}, and so put another folder in place of ${home}: chmod o-w ${at}, or set PALIMPSEST_HOME to a folder of your own`
  }
  return undefined
}
