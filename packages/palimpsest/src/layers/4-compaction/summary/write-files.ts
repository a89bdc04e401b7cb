import type { FileFact } from '../../../facts/facts.ts'
import type { Written } from './write-parts.ts'

// Changed files in little room: the newest by their paths, older ones by folder, and if that is still too long, as a number.
// Each line says what was done to its files.

/** This many of the newest have their path in full. */
export const NEWEST_FILES = 40
/** A longer list is hard to read, so a new line repeats what was done. */
const PER_LINE_MAX = 7

export function writeFiles(files: readonly FileFact[], charsMax: number): Written {
  const ordered = files.toSorted((a, b) => b.touched - a.touched)
  const root = commonFolder(ordered.map(({ path }) => path))
  const short = ordered.map((file) =>
    file.path.startsWith(root) ? { ...file, path: file.path.slice(root.length) } : file,
  )
  const head = root === '' ? [] : [`Paths begin at ${root}`]
  const newest = linesOf(short.slice(0, NEWEST_FILES))
  const older = short.slice(NEWEST_FILES)
  for (const form of [byFolder(older), folderNames(older)]) {
    const lines = [...head, ...newest, ...form]
    if (sizeOf(lines) <= charsMax) return { lines, said: files.length }
  }
  const counted = [...head, ...newest, ...folderCounts(older)]
  if (sizeOf(counted) <= charsMax)
    return withLeft(counted, Math.min(files.length, NEWEST_FILES), files.length)
  return fewer(head, short, charsMax)
}

/** As many of the newest as fit; the others as a number. */
function fewer(head: readonly string[], files: readonly FileFact[], charsMax: number): Written {
  for (let said = Math.min(files.length, NEWEST_FILES); said > 0; said--) {
    const lines = [...head, ...linesOf(files.slice(0, said))]
    if (sizeOf(lines) <= charsMax) return withLeft(lines, said, files.length)
  }
  return withLeft([], 0, files.length)
}

function withLeft(lines: readonly string[], said: number, of: number): Written {
  return { lines, said, left: { what: 'changed files', count: of - said, ids: [] } }
}

/** Grouped by operation, in the order of their newest file. */
function linesOf(files: readonly FileFact[]): readonly string[] {
  return groupBy(files, ({ operation }) => operation).flatMap(([operation, group]) =>
    listed(
      operation,
      group.map(({ path }) => path),
    ),
  )
}

/** `- edited in src/a: x.ts, y.ts`. A folder with one file becomes a path. */
function byFolder(files: readonly FileFact[]): readonly string[] {
  const groups = groupBy(files, ({ path, operation }) => `${operation} in ${folderOf(path)}:`)
  const single = groups.filter(([, group]) => group.length === 1).flatMap(([, group]) => group)
  const many = groups.filter(([, group]) => group.length > 1)
  return [...linesOf(single), ...many.flatMap(([heading, group]) => listed(heading, namesOf(group)))]
}

/** Without the operation: `- changed in src/a: x.ts, y.ts`. */
function folderNames(files: readonly FileFact[]): readonly string[] {
  return groupBy(files, ({ path }) => folderOf(path)).flatMap(([folder, group]) =>
    listed(`changed in ${folder}:`, namesOf(group)),
  )
}

function namesOf(files: readonly FileFact[]): readonly string[] {
  return files.map(({ path }) => nameOf(path))
}

function folderCounts(files: readonly FileFact[]): readonly string[] {
  if (files.length === 0) return []
  const counts = groupBy(files, ({ path }) => folderOf(path)).map(
    ([folder, group]) => `${folder} (${group.length})`,
  )
  return [`- earlier, files changed in: ${counts.join(', ')}`]
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0)
}

/** `- edited a.ts, b.ts`, in as many lines as it takes. */
function listed(heading: string, names: readonly string[]): readonly string[] {
  return Array.from(
    { length: Math.ceil(names.length / PER_LINE_MAX) },
    (_, i) => `- ${heading} ${names.slice(i * PER_LINE_MAX, (i + 1) * PER_LINE_MAX).join(', ')}`,
  )
}

function groupBy<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
): readonly (readonly [string, readonly T[]])[] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups]
}

function folderOf(path: string): string {
  const at = path.lastIndexOf('/')
  return at < 0 ? '.' : path.slice(0, at)
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The folder, with a slash at its end, that saves most if it is named only once. Empty if none saves anything. */
function commonFolder(paths: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const path of paths)
    for (let end = path.indexOf('/', 1); path.startsWith('/') && end > 0; end = path.indexOf('/', end + 1))
      counts.set(path.slice(0, end + 1), (counts.get(path.slice(0, end + 1)) ?? 0) + 1)
  let root = ''
  let saved = 0
  for (const [folder, count] of counts)
    if (count > 1 && count * folder.length > saved) {
      root = folder
      saved = count * folder.length
    }
  return root
}
