import { lstat, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'

import { StorageError, UsageError } from 'palimpsest'

import { systemCode } from '../agent/files/system-code.ts'
import type { World } from '../world.ts'

/** Where sessions, settings and memory are kept: `PALIMPSEST_HOME`, otherwise `.palimpsest` in the user's home folder. */
export function palimpsestHome({ env, cwd, userHome }: Pick<World, 'env' | 'cwd' | 'userHome'>): string {
  const named = env['PALIMPSEST_HOME']
  if (named) return resolve(cwd, named)
  // A path below the working folder would count as the project's own.
  if (!isAbsolute(userHome))
    throw new UsageError('there is no home folder: HOME is empty. Set HOME or PALIMPSEST_HOME to a folder')
  return join(userHome, '.palimpsest')
}

/** The same, for reading stored sessions: the home may be missing, but nothing else may be in its place. */
export async function storedHome(world: World): Promise<string> {
  const home = palimpsestHome(world)
  for (const path of [home, join(home, 'projects')]) {
    const problem = await problemOfHome(path)
    if (problem) throw problem
  }
  return home
}

/** Why a folder cannot hold anything: something else is in its place, or on the path to it. A missing folder is no problem. */
export async function problemOfHome(path: string): Promise<Error | undefined> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) return undefined
    const { notAHome } = await import('palimpsest/node')
    return new StorageError('not-found', notAHome(path, found))
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') {
      const { toStorageError } = await import('palimpsest/node')
      return toStorageError(error, 'use', path)
    }
    // There may be a link whose target is missing.
    const isLink = await lstat(path).then(
      () => true,
      () => false,
    )
    const text = `${path} is a link to nothing. Remove it, or choose another PALIMPSEST_HOME`
    return isLink ? new StorageError('not-found', text) : undefined
  }
}
