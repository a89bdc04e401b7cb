import { join, resolve } from 'node:path'

import type { World } from './world.ts'

/** Where sessions, settings and memory are kept: `PALIMPSEST_HOME`, else `.palimpsest` in the user's own folder. */
export function palimpsestHome({ env, cwd, userHome }: World): string {
  const named = env['PALIMPSEST_HOME']
  return named ? resolve(cwd, named) : join(userHome, '.palimpsest')
}
