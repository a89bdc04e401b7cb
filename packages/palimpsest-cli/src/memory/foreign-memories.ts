import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'

import { StorageError, UsageError, type MemoryFiles } from 'palimpsest'
import { readPlainText } from 'palimpsest/node'

import { systemCode } from '../agent/files/system-code.ts'
import type { World } from '../world.ts'

// Memories that another agent keeps. They are only read, never written.

/** Bound for one file, in bytes. */
const FILE_BYTES_MAX = 1 << 20
const FILES_MAX = 1_000
const INDEX_FILE = 'MEMORY.md'

export interface ForeignMemories {
  /** A real path. */
  readonly path: string
  readonly read: () => Promise<ForeignFiles>
}

export interface ForeignFiles extends MemoryFiles {
  /** When each file last changed: ISO times by name. */
  readonly changed: ReadonlyMap<string, string>
}

/** Claude Code's folder name for a project: every character except letters and digits becomes a dash. */
export function claudeFolder(project: string, { userHome }: Pick<World, 'userHome'>): string {
  return join(userHome, '.claude', 'projects', project.replaceAll(/[^A-Za-z0-9]/g, '-'), 'memory')
}

/** What Claude Code keeps for a project; undefined if there is nothing. */
export async function findClaudeMemories(
  project: string,
  world: Pick<World, 'userHome'>,
): Promise<ForeignMemories | undefined> {
  const path = await realpath(claudeFolder(project, world)).catch(() => undefined)
  return path === undefined ? undefined : { path, read: async () => await readForeign(path) }
}

/** Reads plain files only: a link may lead anywhere. */
export async function readForeign(folder: string): Promise<ForeignFiles> {
  const found = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT')
      throw new UsageError(`there is no folder ${folder}. Give one: \`memory import FOLDER\``)
    throw new StorageError('io', `cannot read ${folder}`, { cause: error })
  })
  const files = found
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md') && !entry.name.startsWith('.'))
    .map(({ name }) => name)
  if (files.length > FILES_MAX)
    throw new UsageError(`${folder} has over ${FILES_MAX} files: is it a memory folder?`)
  const unusable = new Map<string, string>()
  const read = async (file: string): Promise<readonly string[]> => {
    const path = join(folder, file)
    try {
      const text = await readPlainText(path, FILE_BYTES_MAX)
      if (!text.includes('\0')) return [text]
      unusable.set(file, `${path} is not a text file`)
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      unusable.set(file, error.message)
    }
    return []
  }
  const names = files
    .filter((file) => file !== INDEX_FILE)
    .map((file) => file.slice(0, -'.md'.length))
    .toSorted()
  const texts = await Promise.all(
    names.map(async (name) => (await read(`${name}.md`)).map((text) => [name, text] as const)),
  )
  const readable = new Map(texts.flat())
  const changed = await Promise.all(
    [...readable.keys()].map(
      async (name) => [name, (await lstat(join(folder, `${name}.md`))).mtime.toISOString()] as const,
    ),
  )
  return {
    index: files.includes(INDEX_FILE) ? (await read(INDEX_FILE)).join('') : '',
    texts: readable,
    unusable,
    changed: new Map(changed),
  }
}
