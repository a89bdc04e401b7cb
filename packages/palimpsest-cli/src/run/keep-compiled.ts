import { lstatSync, mkdirSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'

import type { World } from '../world.ts'
import { palimpsestHome } from './palimpsest-home.ts'

/** What Node makes of our sources. May be deleted. */
const FOLDER = 'compiled'
const GROUP_OR_OTHERS_WRITE = 0o022

/**
 * Starts find our code compiled by the ones before: a quarter of the time to a prompt. What is in there runs, so it is kept only in a home that is
 * there, is the user's own, and that nobody else can write in. `NODE_DISABLE_COMPILE_CACHE=1` turns it off. Says whether it is kept.
 */
export function keepCompiled(place: Pick<World, 'env' | 'cwd' | 'userHome'>): boolean {
  try {
    const home = palimpsestHome(place)
    if (!isOwn(home)) return false
    const folder = join(home, FOLDER)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!isOwn(folder)) return false
    // An older Node, which is about to be refused with a sentence, does not have it.
    module.enableCompileCache?.(folder)
    return true
  } catch {
    // Then it is compiled again.
    return false
  }
}

function isOwn(folder: string): boolean {
  const found = lstatSync(folder)
  const isClosed = (found.mode & GROUP_OR_OTHERS_WRITE) === 0
  return found.isDirectory() && found.uid === process.getuid?.() && isClosed
}
