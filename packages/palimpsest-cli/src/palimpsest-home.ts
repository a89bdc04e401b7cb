import { stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'

import { StorageError, UsageError } from 'palimpsest'

import type { World } from './world.ts'

/** Where sessions, settings and memory are kept: `PALIMPSEST_HOME`, else `.palimpsest` in the user's own folder. */
export function palimpsestHome({ env, cwd, userHome }: World): string {
  const named = env['PALIMPSEST_HOME']
  if (named) return resolve(cwd, named)
  // Below the working folder it would be taken for the project's own.
  if (!isAbsolute(userHome))
    throw new UsageError('there is no home folder: HOME is empty. Set HOME or PALIMPSEST_HOME to a folder')
  return join(userHome, '.palimpsest')
}

/** The same for whoever reads what is stored: there need not be one, but what stands there must be a folder. */
export async function storedHome(world: World): Promise<string> {
  const home = palimpsestHome(world)
  for (const path of [home, join(home, 'projects')]) {
    const found = await stat(path).catch(() => undefined)
    if (!found || found.isDirectory()) continue
    const { notAHome } = await import('palimpsest/node')
    throw new StorageError('not-found', notAHome(path, found))
  }
  return home
}
