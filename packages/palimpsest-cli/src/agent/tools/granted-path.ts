import { Refusal, toRefusal } from '../refusal.ts'
import { toAbsolutePath } from '../paths/absolute-path.ts'
import type { Access } from '../paths/access.ts'
import { realPathOf } from '../paths/real-path.ts'

/** (S1) The real path of a call's file now. Refused unless it is exactly the path that was permitted for this call. */
export async function grantedPath(access: Access, toolUseId: string, path: string): Promise<string> {
  const granted = access.takeGrant(toolUseId)
  const real = await realPathOf(toAbsolutePath(path, access)).catch((error: unknown) => {
    throw toRefusal(error, 'use', path)
  })
  if (granted === undefined) throw new Refusal(`${path} was not permitted for this call. Nothing was done.`)
  if (granted !== real)
    throw new Refusal(`${path} led to another file when it was permitted (a link changed). Nothing was done.`)
  return real
}
