import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'

import { UsageError } from 'palimpsest'

import type { OpencodeSession } from './opencode-store.ts'

/** A file to replay, and what the report calls it. */
export interface SessionFile {
  readonly path: string
  readonly name: string
  readonly bytes: number
  /** Not a file of its own. */
  readonly opencode?: OpencodeSession
}

const SESSION_ENDINGS = ['.jsonl', '.json']

/** The files among the given files and folders. A folder is looked through to its bottom. */
export async function findSessionFiles(words: readonly string[], cwd: string): Promise<SessionFile[]> {
  const found = new Map<string, SessionFile>()
  for (const word of words) {
    const path = resolve(cwd, word)
    const info = await stat(path).catch(() => undefined)
    if (!info) throw new UsageError(`no such file or folder: ${word}`)
    const files = info.isDirectory() ? await filesBelow(path, word) : [path]
    for (const file of files)
      found.set(file, {
        path: file,
        name: info.isDirectory() ? relative(path, file).split(sep).join('/') : basename(file),
        bytes: (await stat(file)).size,
      })
  }
  return withDistinctNames([...found.values()])
}

async function filesBelow(folder: string, word: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && SESSION_ENDINGS.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
  if (files.length === 0)
    throw new UsageError(
      `no recorded sessions (${SESSION_ENDINGS.map((ending) => `*${ending}`).join(', ')}) in ${word}`,
    )
  return files
}

/** Two files of one name are told apart by their whole paths. */
function withDistinctNames(files: readonly SessionFile[]): SessionFile[] {
  const names = new Map<string, number>()
  for (const { name } of files) names.set(name, (names.get(name) ?? 0) + 1)
  return files.map((file) => ((names.get(file.name) ?? 0) > 1 ? { ...file, name: file.path } : file))
}
