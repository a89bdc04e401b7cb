import { statSync, type Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { NOTES_FOLDER } from './notes-file.ts'

// Which files contain what was said in a project.

export interface StoredFile {
  readonly path: string
  /** Path below the project's folder. */
  readonly id: string
  readonly session: string
  readonly isMemory: boolean
  readonly ino: number
  readonly size: number
  readonly mtime: number
}

export interface StoredFilesWish {
  /** The project's folder below the home. */
  readonly folder: string
  /** Only this session, with its results and agents. */
  readonly session?: string | undefined
  /** Folders of memories elsewhere below the home; only their `.md` files count. */
  readonly memories?: readonly string[] | undefined
}

/** Folders without words of their own: copies of files, and notes, which the transcript has too. */
const PASSED_OVER = new Set(['checkpoints', NOTES_FOLDER])
const DEPTH_MAX = 4
const MEMORY = 'memory'
const AGENT_MEMORY = 'agent-memory'

/** Newest first. Links are not followed. */
export async function storedFiles({
  folder,
  session,
  memories = [],
}: StoredFilesWish): Promise<readonly StoredFile[]> {
  const own = await pathsBelow(folder, TEXT_ENDS, 0)
  const others = await Promise.all(memories.map(async (path) => await pathsBelow(path, ['.md'], 0)))
  const files = [...own, ...others.flat()].map((path): StoredFile | undefined => {
    const id = relative(folder, path)
    const owner = ownerOf(id)
    if (session !== undefined && owner !== session) return undefined
    // Synchronous: awaiting each of several hundred files takes ten times as long.
    const found = statOf(path)
    return found && toStoredFile(path, id, owner, found)
  })
  return files.filter((file) => file !== undefined).toSorted((a, b) => b.mtime - a.mtime)
}

/** Undefined if it is gone, or we may not look at it. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function toStoredFile(path: string, id: string, session: string, found: Stats): StoredFile {
  const { ino, size, mtimeMs: mtime } = found
  return { path, id, session, isMemory: session === MEMORY, ino, size, mtime }
}

/** `s-1.jsonl` and `s-1/tool-results/x.txt` both belong to `s-1`. */
function ownerOf(id: string): string {
  const [first = '', second] = id.split(sep)
  if (first === '..' || first === AGENT_MEMORY) return MEMORY
  return second === undefined ? basename(first, '.jsonl') : first
}

const TEXT_ENDS = ['.jsonl', '.txt', '.md']

async function pathsBelow(
  folder: string,
  ends: readonly string[],
  depth: number,
): Promise<readonly string[]> {
  if (depth > DEPTH_MAX) return []
  const names = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name.name)
      if (name.isDirectory() && !PASSED_OVER.has(name.name)) return await pathsBelow(path, ends, depth + 1)
      return name.isFile() && ends.some((end) => name.name.endsWith(end)) ? [path] : []
    }),
  )
  return found.flat()
}
