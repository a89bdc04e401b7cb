import type { MemoryFiles, MemoryRecord } from '../../memory-files.ts'
import { INDEX_BYTES_MAX, INDEX_LINE_CHARS_MAX, INDEX_LINES_MAX, linesOf, pointedTo } from './index-lines.ts'
import { memoryText, type Memory } from './memory.ts'
import { undoneIds } from './plan-undo.ts'
import { contradicts, findSame, keepWords } from './similar-memories.ts'
import { holds, storedMemories } from './stored-memories.ts'

// What is wrong with a folder of memories, without a model.

export interface MemoryProblem {
  readonly kind:
    | 'stale-path'
    | 'contradiction'
    | 'duplicate'
    | 'orphan'
    | 'dangling'
    | 'long-line'
    | 'long-index'
    | 'source-gone'
    | 'unusable'
  readonly file: string
  readonly line?: number
  readonly text: string
}

export interface CheckFacts {
  /** Which of the paths that memories name do not exist. */
  readonly missingPaths: (paths: readonly string[]) => Promise<ReadonlySet<string>>
  /** Which of the sessions are no longer stored. */
  readonly goneSessions: (ids: readonly string[]) => Promise<ReadonlySet<string>>
}

export async function checkMemories(
  files: MemoryFiles,
  facts: CheckFacts,
): Promise<readonly MemoryProblem[]> {
  const memories = storedMemories(files).filter(holds)
  const names = new Map(memories.map((memory) => [memory, pathsIn(memoryText(memory))]))
  const missing = await facts.missingPaths([...new Set([...names.values()].flat())])
  const gone = await facts.goneSessions([
    ...new Set(memories.flatMap(({ source }) => source.map(({ session }) => session))),
  ])
  return [
    ...ofIndex(files, memories),
    ...[...files.unusable].map(([name, why]) => problem('unusable', name, `cannot be used: ${why}`)),
    ...pairs(memories),
    ...memories.flatMap((memory) => [
      ...(names.get(memory) ?? [])
        .filter((path) => missing.has(path))
        .map((path) => problem('stale-path', memory.name, `names ${path}, which is not there`)),
      ...goneSource(memory, gone),
    ]),
  ]
}

function ofIndex({ index, texts }: MemoryFiles, memories: readonly Memory[]): readonly MemoryProblem[] {
  const lines = linesOf(index)
  const pointed = new Set(lines.flatMap((line) => pointedTo(line) ?? []))
  const inLines = lines.flatMap((line, i): readonly MemoryProblem[] => {
    const name = pointedTo(line)
    const isLong = line.length > INDEX_LINE_CHARS_MAX
    const long = `has ${line.length} characters; at most ${INDEX_LINE_CHARS_MAX} belong in a line`
    return [
      ...(isLong ? [{ ...problem('long-line', 'MEMORY', long), line: i + 1 }] : []),
      ...(name !== undefined && !texts.has(name)
        ? [{ ...problem('dangling', 'MEMORY', `points to ${name}.md, which is not there`), line: i + 1 }]
        : []),
    ]
  })
  const bytes = new TextEncoder().encode(index).length
  const isLong = lines.length > INDEX_LINES_MAX || bytes > INDEX_BYTES_MAX
  const long = `${lines.length} lines, ${bytes} bytes: a prompt takes ${INDEX_LINES_MAX} lines or ${INDEX_BYTES_MAX} bytes of it`
  return [
    ...inLines,
    ...(isLong ? [problem('long-index', 'MEMORY', long)] : []),
    ...memories
      .filter(({ name }) => !pointed.has(name))
      .map(({ name }) => problem('orphan', name, 'no line of MEMORY.md points to it')),
  ]
}

function pairs(memories: readonly Memory[]): readonly MemoryProblem[] {
  const wordsOf = keepWords()
  return memories.flatMap((memory, i) => {
    const later = memories.slice(i + 1)
    const same = findSame(memory, later, wordsOf)
    const against = later.filter(
      (other) =>
        contradicts(memory.description, other.description, wordsOf) ||
        contradicts(other.description, memory.description, wordsOf),
    )
    return [
      ...(same ? [problem('duplicate', memory.name, `says the same as ${same.name}.md`)] : []),
      ...against.map((other) => problem('contradiction', memory.name, `contradicts ${other.name}.md`)),
    ]
  })
}

function goneSource({ name, source }: Memory, gone: ReadonlySet<string>): readonly MemoryProblem[] {
  const isGone = source.length > 0 && source.every(({ session }) => gone.has(session))
  return isGone ? [problem('source-gone', name, 'the sessions that it rests on are deleted')] : []
}

function problem(kind: MemoryProblem['kind'], name: string, text: string): MemoryProblem {
  return { kind, file: `${name}.md`, text }
}

/** A path has a slash and an extension, and is no URL. */
const PATH = /(?<![\w:/.~@-])(?:\.{1,2}\/|\/)?(?:[\w.@-]+\/)+[\w.@-]+\.[A-Za-z]\w{0,7}\b/g

function pathsIn(text: string): readonly string[] {
  return [...new Set(text.match(PATH))]
}

const DOUBTS: ReadonlySet<MemoryProblem['kind']> = new Set(['contradiction', 'source-gone'])

export interface Pollution {
  /** How many memories were ever written. */
  readonly written: number
  /** How many of these were undone, ended or removed. */
  readonly wrong: number
  /** How many memories conversations were shown. */
  readonly loaded: number
  /** How many of these were undone, ended, removed or contradicted, or have lost their source. */
  readonly loadedWrong: number
}

/** How much of what was written, and of what was shown, did not last. `history` is newest first; `uses` is by name. */
export function pollutionOf(
  files: MemoryFiles,
  history: readonly MemoryRecord[],
  {
    uses,
    problems,
  }: { readonly uses: ReadonlyMap<string, number>; readonly problems: readonly MemoryProblem[] },
): Pollution {
  const undone = undoneIds(history)
  const made = history.filter(({ undoes, isMark }) => undoes === undefined && isMark !== true)
  const added = made.flatMap(({ id, changed }) =>
    changed
      .filter(({ file, before }) => before === null && file !== 'MEMORY')
      .map(({ file }) => ({ id, file })),
  )
  const holding = new Set(
    storedMemories(files)
      .filter(holds)
      .map(({ name }) => name),
  )
  const doubted = new Set(
    problems.flatMap(({ kind, file }) => (DOUBTS.has(kind) ? [file.replace(/\.md$/, '')] : [])),
  )
  const loaded = [...uses.keys()]
  return {
    written: added.length,
    wrong: added.filter(({ id, file }) => undone.has(id) || !holding.has(file)).length,
    loaded: loaded.length,
    loadedWrong: loaded.filter((name) => !holding.has(name) || doubted.has(name)).length,
  }
}
