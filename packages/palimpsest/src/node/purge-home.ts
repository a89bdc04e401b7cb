import type { Dirent } from 'node:fs'
import { link, readdir, realpath, unlink } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'

import { StorageError } from '../errors.ts'
import { writeAtomically } from './files/atomic-write.ts'
import { requireInside } from './files/inside-home.ts'
import { takeLock } from './files/lock.ts'
import { projectIn } from './files/paths.ts'
import { toSlug } from '../layers/5-memory/memory-name.ts'
import { formsOf, holdsText, purgedName, purgeFile, type PurgedForm } from './files/purge-file.ts'
import { hasCode, toStorageError } from './files/to-storage-error.ts'
import { NOTES_FOLDER } from './transcripts/notes-file.ts'
import { tornFilesOf } from './transcripts/torn-line.ts'

// Removes a secret from everything that is stored: transcripts, stored results, checkpoints, forks, notes, memories with their history,
// proposals and logs. This is the one exception to the rule that nothing is lost, and only the user can make it. If it is interrupted, the
// next run finishes it: a mark in the project says that files made from its content must go too.

export interface Purged {
  /** Files that contained it. */
  readonly files: readonly string[]
  /** How often it occurred. */
  readonly count: number
  /** What still contains it, and why. */
  readonly left: readonly { readonly path: string; readonly why: string }[]
}

/** Marks a project whose files are being purged: if the file is still there, the purge did not finish. */
const BEGUN = '.purge-begun'
/** Made from the content of other files, or without any user's words. */
const MADE = /^index\.sqlite|\.lock$/
/** Held by whoever adds or takes a task. */
const TASKS_LOCK = 'tasks.jsonl.lock'
/** A shorter name occurs everywhere. */
const SLUG_CHARS_MIN = 6

/** `home`: from `openHome`. `forget`: removes what was made from a project's files, above all its index. */
export async function purgeHome(
  home: string,
  text: string,
  forget: (project: string) => void,
): Promise<Purged> {
  const purge = new Map<string, number>()
  const left: { path: string; why: string }[] = []
  const { forms, formsIn, inNames } = formsFor(home, text)
  const inFiles = async (paths: readonly string[], project?: string): Promise<void> => {
    const begin = async (): Promise<void> => {
      if (project !== undefined) await writeAtomically(home, join(project, BEGUN), '')
    }
    for (const path of paths) {
      const count = await purgeFile(home, path, formsIn(path), begin)
      if (count > 0) purge.set(path, count)
    }
  }
  const locked = async (lock: string, path: string, work: () => Promise<void>): Promise<void> => {
    try {
      const taken = await takeLock(home, lock)
      try {
        await work()
      } finally {
        await taken.release()
      }
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure !== 'locked') throw error
      if (await holdsAny(home, path, forms))
        left.push({ path, why: 'another process has it open. Close it and purge again' })
    }
  }
  for (const project of await foldersIn(home, join(home, 'projects'))) {
    for (const { transcript, others } of await sessionsIn(home, project)) {
      const inSession = async (): Promise<void> => await inFiles([transcript, ...others], project)
      await locked(`${transcript}.lock`, transcript, inSession)
    }
    const memory = join(project, 'memory')
    if (await isFolder(home, memory))
      await locked(
        join(memory, '.lock'),
        memory,
        async () => await inFiles(await filesIn(home, memory), project),
      )
    await inFiles(await otherFilesIn(home, project), project)
    for (const [path, count] of await inSharedMemory(project, formsOf(text, inNames), inNames))
      purge.set(path, count)
    if (!(await entriesIn(home, project)).some(({ name }) => name === BEGUN)) continue
    forget(project)
    await unlink(join(project, BEGUN))
  }
  const memory = join(home, 'memory')
  if (await isFolder(home, memory))
    await locked(join(memory, '.lock'), memory, async () => await inFiles(await filesIn(home, memory)))
  for (const team of await foldersIn(home, join(home, 'teams')))
    await locked(join(team, TASKS_LOCK), team, async () => await inFiles(await filesIn(home, team)))
  await inFiles(await filesIn(home, join(home, 'agent-memory')))
  // This comes last: as long as a name spells the text, the next purge knows that this one did not finish.
  for (const folder of await memoryFoldersIn(home))
    await locked(join(folder, '.lock'), folder, async () => {
      left.push(...(await renameIn(home, folder, inNames)))
    })
  left.push(...(await ownFiles(home, forms)))
  return {
    files: [...purge.keys()],
    count: [...purge.values()].reduce((sum, count) => sum + count, 0),
    left,
  }
}

/** What agents remember beside the project's own files. A folder that leads elsewhere is left alone. */
async function inSharedMemory(
  project: string,
  forms: readonly PurgedForm[],
  inNames: string | undefined,
): Promise<ReadonlyMap<string, number>> {
  const purged = new Map<string, number>()
  const path = await projectIn(join(project, 'project.json')).catch(() => undefined)
  const folder = path === undefined ? undefined : join(path, '.palimpsest', 'agent-memory')
  if (folder === undefined || (await realpath(folder).catch(() => undefined)) !== folder) return purged
  for (const file of await filesIn(folder, folder)) {
    const count = await purgeFile(folder, file, forms, async () => {})
    if (count > 0) purged.set(file, count)
  }
  for (const type of await foldersIn(folder, folder)) await renameIn(folder, type, inNames)
  return purged
}

interface Forms {
  readonly forms: readonly PurgedForm[]
  readonly formsIn: (path: string) => readonly PurgedForm[]
  /** How names of memories spell it. Undefined for a text with too few letters. */
  readonly inNames: string | undefined
}

/** If the text itself could be a name, it counts as one only among the memories: elsewhere a clearer mark replaces it. */
function formsFor(home: string, text: string): Forms {
  const slug = toSlug(text)
  const inNames = slug.length < SLUG_CHARS_MIN ? undefined : slug
  const forms = formsOf(text, inNames === text ? undefined : inNames)
  const inMemory = formsOf(text, inNames)
  return { forms, formsIn: (path) => (isOfMemory(home, path) ? inMemory : forms), inNames }
}

function isOfMemory(home: string, path: string): boolean {
  return path
    .slice(home.length)
    .split(sep)
    .some((part) => part === 'memory' || part === 'agent-memory')
}

/** Folders that contain memories: of projects, of the user, of agents. */
async function memoryFoldersIn(home: string): Promise<readonly string[]> {
  const projects = await foldersIn(home, join(home, 'projects'))
  const ofAgents = await Promise.all(
    [home, ...projects].map(async (place) => await foldersIn(home, join(place, 'agent-memory'))),
  )
  const own = [home, ...projects].map((place) => join(place, 'memory'))
  const isThere = await Promise.all(own.map(async (folder) => await isFolder(home, folder)))
  return [...own.filter((_, i) => isThere[i]), ...ofAgents.flat()]
}

/** Renames memories whose names spell the text. If the new name is taken, that file stays and the old one is reported. */
async function renameIn(
  home: string,
  folder: string,
  inNames: string | undefined,
): Promise<Purged['left'][number][]> {
  const left: Purged['left'][number][] = []
  if (inNames === undefined) return left
  for (const path of await filesIn(home, folder)) {
    const name = basename(path)
    const to = purgedName(name, inNames)
    if (to === name) continue
    try {
      await link(path, join(dirname(path), to))
      await unlink(path)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw toStorageError(error, 'write', path)
      left.push({ path, why: `its name contains it, and ${to} already exists. Remove one of them` })
    }
  }
  return left
}

interface StoredSession {
  readonly transcript: string
  readonly others: readonly string[]
}

async function sessionsIn(home: string, project: string): Promise<readonly StoredSession[]> {
  const transcripts = (await entriesIn(home, project)).filter((entry) => isFile(entry, '.jsonl'))
  return await Promise.all(
    transcripts.map(async ({ name }) => {
      const transcript = join(project, name)
      const id = basename(name, '.jsonl')
      const notes = join(project, NOTES_FOLDER)
      return {
        transcript,
        others: [
          ...(await filesIn(home, join(project, id))),
          ...(await entriesIn(home, notes))
            .filter((entry) => isFile(entry, '.md') && basename(entry.name, '.md') === id)
            .map((entry) => join(notes, entry.name)),
          ...(await tornFilesOf(transcript)),
        ],
      }
    }),
  )
}

/** Files outside sessions and memories: copies that a dream left, folders of deleted sessions, half-written files of ended processes. */
async function otherFilesIn(home: string, project: string): Promise<readonly string[]> {
  const entries = await entriesIn(home, project)
  const sessions = new Set(
    entries.filter((entry) => isFile(entry, '.jsonl')).map(({ name }) => basename(name, '.jsonl')),
  )
  const kept = new Set([...sessions, 'memory', NOTES_FOLDER])
  const folders = entries.filter((entry) => entry.isDirectory() && !kept.has(entry.name))
  const below = await Promise.all(folders.map(async ({ name }) => await filesIn(home, join(project, name))))
  const notes = (await filesIn(home, join(project, NOTES_FOLDER))).filter(
    (path) => !sessions.has(basename(path, '.md')),
  )
  const files = entries.filter(
    (entry) => entry.isFile() && !entry.name.endsWith('.jsonl') && !MADE.test(entry.name),
  )
  return [...files.map(({ name }) => join(project, name)), ...below.flat(), ...notes]
}

/** Settings and rules belong to the user, who may want a key in them. */
async function ownFiles(home: string, forms: readonly PurgedForm[]): Promise<Purged['left'][number][]> {
  const found: { path: string; why: string }[] = []
  for (const entry of await entriesIn(home, home)) {
    const path = join(home, entry.name)
    if (!isFile(entry, '.json') || !(await holdsText(home, path, forms))) continue
    found.push({ path, why: 'it is yours to edit' })
  }
  return found
}

async function holdsAny(home: string, path: string, forms: readonly PurgedForm[]): Promise<boolean> {
  const files = (await isFolder(home, path)) ? await filesIn(home, path) : [path]
  for (const file of files) if (await holdsText(home, file, forms)) return true
  return false
}

function isFile(entry: Dirent, ending: string): boolean {
  return entry.isFile() && entry.name.endsWith(ending)
}

async function isFolder(home: string, path: string): Promise<boolean> {
  return (await entriesIn(home, path)).length > 0
}

async function foldersIn(home: string, path: string): Promise<readonly string[]> {
  return (await entriesIn(home, path)).filter((one) => one.isDirectory()).map(({ name }) => join(path, name))
}

/** Plain files below a folder. Links are left alone: what they point to is not ours. */
async function filesIn(home: string, path: string): Promise<readonly string[]> {
  const entries = await entriesIn(home, path)
  const below = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => await filesIn(home, join(path, name))),
  )
  return [...entries.filter((entry) => entry.isFile()).map(({ name }) => join(path, name)), ...below.flat()]
}

async function entriesIn(home: string, path: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    await requireInside(home, path)
    return entries
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw toStorageError(error, 'read', path)
  }
}
