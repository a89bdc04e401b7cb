import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { StorageError, UsageError } from '../../errors.ts'
import { isJsonObject } from '../../wire/json.ts'
import { createExclusively } from './atomic-write.ts'
import { makeFolder } from './inside-home.ts'
import { mainWorktree } from './main-worktree.ts'
import { hasCode, toStorageError } from './to-storage-error.ts'
import { readPlainText } from './plain-file.ts'

// Where things are below the home. Names from outside are checked before they become part of a path.

/** Longer names are cut; most file systems allow 255 bytes, and suffixes follow. */
const SLUG_CHARS_MAX = 200
const HASH_CHARS = 8

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
/** Folders beside those of the sessions. */
const RESERVED_IDS = new Set(['memory', 'session-memory'])

/** A project's folder below the home, and the project's real path. */
export interface ProjectFolder {
  readonly home: string
  readonly folder: string
  readonly project: string
}

/** Finds or creates the folder of the project that `cwd` belongs to. `home` is from `openHome`. */
export async function openProject(home: string, cwd: string): Promise<ProjectFolder> {
  const project = await mainWorktree(cwd)
  const slug = projectSlug(project)
  for (const name of [slug, `${slug}-${shortHash(project)}`]) {
    const folder = await makeFolder(home, join(home, 'projects', name))
    if (await claim(home, folder, project)) return { home, folder, project }
  }
  const text = `two projects claim the folder ${slug} in ${home}. Look into their project.json and remove the wrong one`
  throw new StorageError('io', text)
}

export function projectSlug(path: string): string {
  const slug = path.replaceAll(/[^A-Za-z0-9]/g, '-')
  return slug.length <= SLUG_CHARS_MAX ? slug : `${slug.slice(0, SLUG_CHARS_MAX)}-${shortHash(path)}`
}

/** Accepts letters, digits, `-` and `_`, at most 128. Throws a `UsageError` for everything else. */
export function requireSessionId(id: string): string {
  if (isSessionId(id)) return id
  const text = `"${id.slice(0, 40)}" cannot be a session id: use letters, digits, "-" and "_", for example a UUID`
  throw new UsageError(text)
}

export function isSessionId(id: string): boolean {
  return ID.test(id) && !RESERVED_IDS.has(id.toLowerCase())
}

export function transcriptPath(project: ProjectFolder, sessionId: string): string {
  return join(project.folder, `${requireSessionId(sessionId)}.jsonl`)
}

export function agentTranscriptPath(project: ProjectFolder, sessionId: string, agentId: string): string {
  return join(project.folder, requireSessionId(sessionId), 'agents', `${requireSessionId(agentId)}.jsonl`)
}

/** True if the folder belongs to this project, or does from now on. */
async function claim(home: string, folder: string, project: string): Promise<boolean> {
  const file = join(folder, 'project.json')
  const known = await projectIn(file)
  if (known !== undefined) return known === project
  if (await createExclusively(home, file, `${JSON.stringify({ path: project })}\n`)) return true
  return (await projectIn(file)) === project
}

export async function projectIn(file: string): Promise<string | undefined> {
  try {
    const value: unknown = JSON.parse(await readPlainText(file))
    if (isJsonObject(value) && typeof value['path'] === 'string') return value['path']
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    if (!(error instanceof SyntaxError)) throw toStorageError(error, 'read', file)
  }
  throw new StorageError(
    'io',
    `${file} is damaged: it should be {"path": "/the/project"}. Fix it or delete it`,
  )
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS)
}
