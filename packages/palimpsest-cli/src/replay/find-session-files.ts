import { stat } from 'node:fs/promises'
import { basename, relative, resolve, sep } from 'node:path'

import { UsageError } from 'palimpsest'

import { filesBelow } from './files-below.ts'
import type { OpencodeSession } from './opencode-store.ts'

/** A file to replay, and its name in the report. */
export interface SessionFile {
  readonly path: string
  readonly name: string
  readonly bytes: number
  /** Set if it is a session in opencode's store, not a file of its own. */
  readonly opencode?: OpencodeSession
}

const SESSION_ENDINGS = ['.jsonl', '.json']

/** The session files among the given files and folders, including all subfolders. */
export async function findSessionFiles(words: readonly string[], cwd: string): Promise<SessionFile[]> {
  const found = new Map<string, SessionFile>()
  for (const word of words) {
    const path = resolve(cwd, word)
    const info = await stat(path).catch(() => undefined)
    if (!info) throw new UsageError(`no such file or folder: ${word}`)
    if (!info.isDirectory()) found.set(path, { path, name: basename(path), bytes: info.size })
    else for (const file of await sessionsBelow(path, word)) found.set(file.path, file)
  }
  return withDistinctNames([...found.values()])
}

async function sessionsBelow(folder: string, word: string): Promise<SessionFile[]> {
  const files = await filesBelow(folder, SESSION_ENDINGS)
  if (files.length === 0)
    throw new UsageError(
      `no recorded sessions (${SESSION_ENDINGS.map((ending) => `*${ending}`).join(', ')}) in ${word}`,
    )
  return files
    .map(({ path, bytes }) => ({ path, name: relative(folder, path).split(sep).join('/') || word, bytes }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Files with the same name are shown with their whole paths. */
function withDistinctNames(files: readonly SessionFile[]): SessionFile[] {
  const names = new Map<string, number>()
  for (const { name } of files) names.set(name, (names.get(name) ?? 0) + 1)
  return files.map((file) => ((names.get(file.name) ?? 0) > 1 ? { ...file, name: file.path } : file))
}
