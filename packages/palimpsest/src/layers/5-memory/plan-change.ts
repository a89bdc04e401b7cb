import type { MemoryAuthor, MemoryChange, MemoryFiles } from '../../memory-files.ts'
import { oneLine, printMemory } from './front-matter.ts'
import { updateIndex } from './index-lines.ts'
import { freeName, isMemoryName, toMemoryName } from './memory-name.ts'
import { memoryText, type Memory, type MemorySource, type MemoryType, type Trust } from './memory.ts'
import { findContradicted, findSame, normalText } from './similar-memories.ts'
import { holds, parseStored, storedMemories } from './stored-memories.ts'

// From an accepted memory to the files that change: it merges with what says the same, ends what it contradicts, or becomes a file of its
// own.

export interface Accepted {
  /** Name of the memory that it replaces, or a wish for a name. */
  readonly name?: string | undefined
  readonly description: string
  readonly type: MemoryType
  readonly body: string
  readonly trust: Trust
  readonly source: readonly MemorySource[]
  readonly ends?: readonly string[] | undefined
  /** It is the new text of the memory of that name, whatever else says the same. */
  readonly replaces?: boolean | undefined
}

export interface Occasion {
  readonly by: MemoryAuthor
  readonly session?: string | undefined
  readonly reason: string
  /** ISO time. */
  readonly now: string
}

export interface PlannedMemory {
  readonly change: MemoryChange
  /** The memory that has it now. */
  readonly name: string
  readonly what: 'added' | 'merged' | 'replaced' | 'verified'
  /** Names of the memories that it ended. */
  readonly ended: readonly string[]
}

export function planMemory(accepted: Accepted, files: MemoryFiles, about: Occasion): PlannedMemory {
  const memories = storedMemories(files)
  const holding = memories.filter(holds)
  const target = accepted.replaces === true ? holding.find(({ name }) => name === accepted.name) : undefined
  const same = target ?? findSame(accepted, holding)
  const memory = same ? merged(same, accepted, about, target !== undefined) : fresh(accepted, files, about)
  const over = endedBy(
    accepted,
    holding.filter(({ name }) => name !== memory.name),
  )
  const ended = over.map((one) => ({ ...one, ended: about.now, endedBy: memory.name }))
  const isMark = same !== undefined && ended.length === 0 && isOnlyVerified(same, memory)
  const what = same === undefined ? 'added' : target ? 'replaced' : isMark ? 'verified' : 'merged'
  const change = changeOf(
    [memory, ...ended],
    files,
    { ...about, isMark: isMark ? true : undefined },
    memories,
  )
  return { change, name: memory.name, what, ended: ended.map(({ name }) => name) }
}

/** Files and index once these memories are as given. `stored`: what the files say now. */
export function changeOf(
  memories: readonly Memory[],
  files: MemoryFiles,
  { by, session, reason, isMark }: Omit<Occasion, 'now'> & { readonly isMark?: boolean | undefined },
  stored: readonly Memory[] = storedMemories(files),
): MemoryChange {
  const texts = new Map(memories.map((memory) => [memory.name, printMemory(memory)]))
  const written = storedMemories({ texts })
  const after = new Map([...stored, ...written].map((memory) => [memory.name, memory]))
  const changed = new Set(memories.map(({ name }) => name))
  const index = updateIndex(files.index, changed, [...after.values()])
  return { by, session, reason, isMark, texts, index }
}

/** The files without these. Their history stays. */
export function planRemoval(
  names: readonly string[],
  files: MemoryFiles,
  about: Omit<Occasion, 'now'>,
): MemoryChange {
  const { by, session, reason } = about
  const gone = new Set(names)
  const texts = new Map(names.map((name) => [name, null]))
  const left = new Map([...files.texts].filter(([name]) => !gone.has(name)))
  const index = updateIndex(files.index, gone, storedMemories({ texts: left }))
  return { by, session, reason, texts, index }
}

function fresh(accepted: Accepted, { texts, unusable }: MemoryFiles, { now }: Occasion): Memory {
  const { name: wish, description, type, body, trust, source } = accepted
  const start = wish !== undefined && isMemoryName(wish) ? wish : toMemoryName(wish ?? description)
  const taken = new Set([...texts.keys(), ...unusable.keys()].map((name) => name.toLowerCase()))
  const name = freeName(start, (one) => taken.has(one.toLowerCase()))
  return {
    name,
    description: oneLine(description),
    type,
    source,
    trust,
    created: now,
    verified: now,
    other: [],
    body: body.trim(),
  }
}

/**
 * A memory that is stated again is verified and gets the new sources. The longer text stays unless it is less trusted, and trust never
 * falls.
 */
function merged(same: Memory, accepted: Accepted, { now }: Occasion, isReplaced: boolean): Memory {
  const isLonger = normalText(memoryText(accepted)).length > normalText(memoryText(same)).length
  const isBetter = isReplaced || (isLonger && trustRank(accepted.trust) <= trustRank(same.trust))
  const text = isBetter ? { description: oneLine(accepted.description), body: accepted.body.trim() } : {}
  const trust = isReplaced || trustRank(accepted.trust) < trustRank(same.trust) ? accepted.trust : same.trust
  const known = new Set(same.source.map(({ session, message }) => `${session} ${message}`))
  const added = accepted.source.filter(({ session, message }) => !known.has(`${session} ${message}`))
  const type = isReplaced ? accepted.type : same.type
  return {
    ...same,
    ...text,
    type,
    trust,
    source: [...same.source, ...added].slice(-SOURCES_KEPT),
    verified: now,
  }
}

/** The newest sources are kept, for a fact that is stated again and again. */
const SOURCES_KEPT = 20

function isOnlyVerified(before: Memory, after: Memory): boolean {
  const { verified, source } = before
  return printMemory({ ...after, verified, source }) === printMemory(before)
}

/** Only what is trusted enough may end a memory. */
function endedBy(accepted: Accepted, others: readonly Memory[]): readonly Memory[] {
  const may = others.filter(({ trust }) => mayEnd(accepted.trust, trust))
  const named = new Set(accepted.ends)
  const over = new Set(findContradicted(accepted, may).map(({ name }) => name))
  return may.filter(({ name }) => named.has(name) || over.has(name))
}

/** Whether a memory with the trust `fresh` may end one with the trust `old`. */
export function mayEnd(fresh: Trust, old: Trust): boolean {
  return trustRank(fresh) <= Math.max(trustRank(old), trustRank('confirmed'))
}

/** The most trusted first. */
export function trustRank(trust: Trust): number {
  return { user: 0, confirmed: 1, model: 2, tool: 3 }[trust]
}

export function findStored(name: string, { texts }: MemoryFiles): Memory | undefined {
  const text = texts.get(name)
  return text === undefined ? undefined : parseStored(name, text)
}
