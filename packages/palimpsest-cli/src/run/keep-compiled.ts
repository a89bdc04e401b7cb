import { lstatSync, mkdirSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'

import type { World } from '../world.ts'
import { palimpsestHome } from './palimpsest-home.ts'

/** Cache of the code that Node compiles from our sources. Safe to delete. */
const FOLDER = 'compiled'
const GROUP_OR_OTHERS_WRITE = 0o022

/**
 * Lets later starts reuse compiled code: the prompt appears in a quarter of the time. Node runs what this folder holds, so we use it only
 * if the home exists, belongs to the user, and no one else can write in it. `NODE_DISABLE_COMPILE_CACHE=1` turns it off. Returns whether
 * the cache is in use.
 */
export function keepCompiled(place: Pick<World, 'env' | 'cwd' | 'userHome'>): boolean {
  try {
    const home = palimpsestHome(place)
    if (!isOwn(home)) return false
    const folder = join(home, FOLDER)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!isOwn(folder)) return false
    // An older Node lacks this function; we are about to refuse it with a message.
    module.enableCompileCache?.(folder)
    return true
  } catch {
    // Then Node compiles the code again.
    return false
  }
}

function isOwn(folder: string): boolean {
  const found = lstatSync(folder)
  const isClosed = (found.mode & GROUP_OR_OTHERS_WRITE) === 0
  return found.isDirectory() && found.uid === process.getuid?.() && isClosed
}
