import { readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

import { UsageError } from 'palimpsest'
import { mainWorktree, projectIn, projectSlug, requireSessionId, toStorageError } from 'palimpsest/node'

import { systemCode } from '../agent/files/system-code.ts'
import { findById } from './find-by-id.ts'
import { storedHome } from '../run/palimpsest-home.ts'
import { requireSessionFile } from './session-file.ts'
import type { World } from '../world.ts'

export interface FoundSession {
  readonly id: string
  readonly path: string
}

/** The session with that id or prefix, in any project; without an id, the last used session of this project. */
export async function findSession(id: string | undefined, world: World): Promise<FoundSession> {
  if (id !== undefined) return (await sessionNamed(id, world)) ?? noSession(id)
  const folders = await projectFolders(world)
  const files = await Promise.all(folders.map(transcriptsIn))
  const newest = files.flat().toSorted((a, b) => b.usedAt - a.usedAt)[0]
  if (newest) return newest
  throw new UsageError('no session in this folder yet; `palimpsest sessions` lists those of all folders')
}

/** Accepts an id of ours, an id of another agent's session of this project, the start of either, or a path. */
export async function whichSession(which: string, world: World): Promise<FoundSession> {
  if (!which.includes('/') && !which.endsWith('.jsonl'))
    return (await sessionNamed(which, world)) ?? (await otherAgentsSession(which, world)) ?? noSession(which)
  const path = resolve(world.cwd, which)
  await requireSessionFile(path)
  return { id: basename(path, '.jsonl'), path }
}

/** Claude Code keeps a project's sessions in a folder named like ours. */
async function otherAgentsSession(
  id: string,
  { cwd, env, userHome }: World,
): Promise<FoundSession | undefined> {
  const config = env['CLAUDE_CONFIG_DIR'] ?? join(userHome, '.claude')
  const folders = [...new Set([cwd, await mainWorktree(cwd)])]
  const homes = folders.map((folder) => join(config, 'projects', projectSlug(folder)))
  const found = await Promise.all(homes.map(async (home) => await sessionsIn(home).catch(() => [])))
  return findById(id, found.flat(), 'sessions')
}

/** Folders with this project's sessions. */
export async function projectFolders(world: World): Promise<readonly string[]> {
  return await foldersOf(await mainWorktree(world.cwd), await projectsIn(world))
}

/** A folder with a similar name may belong to another project: its `project.json` decides. */
async function foldersOf(project: string, projects: string): Promise<readonly string[]> {
  const slug = projectSlug(project)
  const folders: string[] = []
  for (const name of await namesIn(projects)) {
    if (name !== slug && !name.startsWith(`${slug}-`)) continue
    const known = await projectIn(join(projects, name, 'project.json'))
    if (known === project || (known === undefined && name === slug)) folders.push(join(projects, name))
  }
  return folders
}

/** Undefined if no project of ours has a session with that id. */
async function sessionNamed(id: string, world: World): Promise<FoundSession | undefined> {
  const projects = await projectsIn(world)
  requireSessionId(id)
  const folders = (await namesIn(projects)).map((name) => join(projects, name))
  const found = await Promise.all(folders.map(sessionsIn))
  return findById(id, found.flat(), 'sessions')
}

function noSession(id: string): never {
  throw new UsageError(`no session "${id}"; \`palimpsest sessions\` lists all`)
}

async function projectsIn(world: World): Promise<string> {
  return join(await storedHome(world), 'projects')
}

async function transcriptsIn(folder: string): Promise<(FoundSession & { readonly usedAt: number })[]> {
  const found = await sessionsIn(folder)
  const dated = await Promise.all(
    found.map(async (session) => {
      const known = await stat(session.path).catch(() => undefined)
      return known?.isFile() ? [{ ...session, usedAt: known.mtimeMs }] : []
    }),
  )
  return dated.flat()
}

async function sessionsIn(folder: string): Promise<FoundSession[]> {
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.jsonl'))
  return names.map((name) => ({ id: name.slice(0, -'.jsonl'.length), path: join(folder, name) }))
}

/** A missing folder has no sessions. One that cannot be read is an error, because it may have some. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return await readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return []
    throw toStorageError(error, 'list', folder)
  })
}
