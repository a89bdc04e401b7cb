import { lstatSync, readdirSync, readlinkSync, type BigIntStats, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as pause } from 'node:timers/promises'

import { systemCode } from '../../files/system-code.ts'
import { isProtectedName, isUnpacked } from './protected-name.ts'

// Searches a whole working folder for what needs care. It runs before and after every command that writes, so it must be fast: a folder is
// read again only if its change time is different. Nothing in the sandbox can set that time.

export interface Protected {
  readonly path: string
  /** `odd`: the name is not valid text, so no argument can contain it. */
  readonly kind: 'folder' | 'file' | 'link' | 'odd'
  /** Identifies the file, wherever it is. */
  readonly id: string
  /** Identifies the place, whatever is there: the id of its folder, and the name. */
  readonly slot: string
  /** Where a link leads. Undefined: not a link. */
  readonly target?: string | undefined
  /** A file that makes its whole folder a repository. */
  readonly isHead: boolean
}

export interface FolderLook {
  readonly protected: readonly Protected[]
  /** Sockets and pipes: a process outside may be at the other end. */
  readonly doors: readonly string[]
  /** Files that also have names elsewhere, or the folder of unpacked code around them. */
  readonly shared: readonly string[]
}

export type LookThrough = (
  folders: readonly string[],
  options: { readonly isClosed: (path: string) => boolean; readonly entriesMax: number },
) => Promise<FolderLook | undefined>

interface Seen extends FolderLook {
  readonly id: string
  readonly changed: bigint
  /** The folder may have changed again within the same clock tick. */
  readonly isFresh: boolean
  readonly folders: readonly string[]
}

/** Folders and files together; more would be noticeable before every command. */
export const ENTRIES_MAX = 400_000
const ENTRIES_A_SLICE = 2_000
/** Clocks of file systems tick every few milliseconds; a remote disk may be slightly off. */
const TICK_NS = 200_000_000n
const NS_PER_MS = 1_000_000n

/** The search returns undefined if there are too many entries. */
export function createLookThrough(now: () => number): LookThrough {
  const known = new Map<string, Seen>()
  return async (folders, { isClosed, entriesMax }) => {
    const found: { protected: Protected[]; doors: string[]; shared: Set<string> } = {
      ...{ protected: [], doors: [], shared: new Set() },
    }
    const waiting: Waiting[] = folders.map((path) => ({ path, unpacked: undefined }))
    let [looked, slice] = [0, 0]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const seen = lookAt(next, known, now)
      if (seen === undefined) continue
      looked += seen.cost
      if (looked > entriesMax) return undefined
      if (looked - slice > ENTRIES_A_SLICE) {
        slice = looked
        await pause()
      }
      found.protected.push(...seen.protected)
      found.doors.push(...seen.doors)
      for (const path of seen.shared) found.shared.add(next.unpacked ?? path)
      for (const name of seen.folders) {
        const path = join(next.path, name)
        if (!isClosed(path))
          waiting.push({ path, unpacked: next.unpacked ?? (isUnpacked(name) ? path : undefined) })
      }
    }
    return { ...found, shared: [...found.shared] }
  }
}

interface Waiting {
  readonly path: string
  /** The outermost folder of unpacked code around it. Undefined: none. */
  readonly unpacked: string | undefined
}

function lookAt(
  { path, unpacked }: Waiting,
  known: Map<string, Seen>,
  now: () => number,
): (Seen & { readonly cost: number }) | undefined {
  const stat = statOf(path)
  if (stat === undefined || !stat.isDirectory()) {
    known.delete(path)
    return undefined
  }
  const before = known.get(path)
  const id = idOf(stat)
  if (before?.id === id && before.changed === stat.ctimeNs && !before.isFresh) return { ...before, cost: 1 }
  const entries = entriesOf(path)
  // A command that closed a folder can open it again, so the folder counts as protected.
  if (entries === undefined) {
    const closed = { path, kind: 'folder', id, slot: `closed ${path}`, isHead: false } as const
    return {
      id,
      changed: 0n,
      isFresh: true,
      folders: [],
      protected: [closed],
      doors: [],
      shared: [],
      cost: 1,
    }
  }
  const isFresh = BigInt(now()) * NS_PER_MS - stat.ctimeNs < TICK_NS
  const seen = {
    id,
    changed: stat.ctimeNs,
    isFresh,
    ...sort(entries, path, { id, isUnpacked: unpacked !== undefined }),
  }
  known.set(path, seen)
  return { ...seen, cost: 1 + entries.length }
}

function sort(
  entries: readonly Dirent[],
  folder: string,
  around: { readonly id: string; readonly isUnpacked: boolean },
): Pick<Seen, 'folders' | 'protected' | 'doors' | 'shared'> {
  const folders: string[] = []
  const [guarded, doors, shared]: [Protected[], string[], string[]] = [[], [], []]
  for (const entry of entries) {
    const { name } = entry
    const path = join(folder, name)
    const isFolder = entry.isDirectory()
    if (name.includes('\uFFFD'))
      guarded.push({ path, kind: 'odd', id: '', slot: `${around.id}/${name}`, isHead: false })
    else if (isProtectedName(name, { isFolder, isUnpacked: around.isUnpacked })) {
      const one = protectedAt(path, name, around.id)
      if (one !== undefined) guarded.push(one)
    } else if (isFolder) folders.push(name)
    else if (entry.isSocket() || entry.isFIFO()) doors.push(path)
    else if (entry.isFile() && (statOf(path)?.nlink ?? 0n) > 1n) shared.push(path)
  }
  return { folders, protected: guarded, doors, shared }
}

function protectedAt(path: string, name: string, folderId: string): Protected | undefined {
  const stat = statOf(path)
  if (stat === undefined) return undefined
  const kind = stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : 'file'
  const isHead = !name.startsWith('.') && kind !== 'folder' && /^head[. ]*$/i.test(name)
  return {
    ...{ path, kind, id: idOf(stat), slot: `${folderId}/${name}`, isHead },
    target: kind === 'link' ? linkOf(path) : undefined,
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/** Undefined if it has disappeared in the meantime. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true })
  } catch {
    return undefined
  }
}

/** Undefined: it may not be read. */
function entriesOf(path: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    return systemCode(error) === 'EACCES' ? undefined : []
  }
}
