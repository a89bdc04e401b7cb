import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { UsageError } from 'palimpsest'
import { mainWorktree, projectSlug, requireSessionId } from 'palimpsest/node'

import { palimpsestHome } from './palimpsest-home.ts'
import type { World } from './world.ts'

export interface FoundSession {
  readonly id: string
  readonly path: string
}

/** The session of that id in any project; without one, the session of this project that was used last. */
export async function findSession(id: string | undefined, world: World): Promise<FoundSession> {
  const projects = join(palimpsestHome(world), 'projects')
  if (id !== undefined) return await sessionNamed(requireSessionId(id), projects)
  const slug = projectSlug(await mainWorktree(world.cwd))
  const folders = (await namesIn(projects)).filter((name) => name === slug || name.startsWith(`${slug}-`))
  const files = await Promise.all(folders.map((name) => transcriptsIn(join(projects, name))))
  const newest = files.flat().toSorted((a, b) => b.usedAt - a.usedAt)[0]
  if (newest) return newest
  throw new UsageError('no session in this folder; `palimpsest sessions` lists all, --session ID takes one')
}

async function sessionNamed(id: string, projects: string): Promise<FoundSession> {
  for (const name of await namesIn(projects)) {
    const found = (await transcriptsIn(join(projects, name))).find((session) => session.id === id)
    if (found) return found
  }
  throw new UsageError(`no session "${id}"; \`palimpsest sessions\` lists all`)
}

async function transcriptsIn(folder: string): Promise<(FoundSession & { readonly usedAt: number })[]> {
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.jsonl'))
  return await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      return { id: name.slice(0, -'.jsonl'.length), path, usedAt: (await stat(path)).mtimeMs }
    }),
  )
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch {
    // No folder is no session; what cannot be read shows when the session is asked for.
    return []
  }
}
