import { distinctiveWords } from '../../../facts/distinctive-words.ts'
import type { MemoryFiles, MemoryRecord } from '../../../memory-files.ts'
import { printMemory } from '../front-matter.ts'
import { memoryText, type Memory, type MemorySource } from '../memory.ts'
import { mayEnd, trustRank } from '../plan-change.ts'
import { contradicts, findSame, keepWords } from '../similar-memories.ts'
import { holds, storedMemories } from '../stored-memories.ts'
import { withAbsoluteDates } from './absolute-dates.ts'
import { goneMax, goneNames, MONTH_MS } from './gone-limits.ts'
import { rebuildIndex } from './rebuild-index.ts'

// Consolidation without a model: dates become absolute, what says the same becomes one, what was refuted ends, the index is rebuilt.
// It never removes more than the limits allow: the rest waits for the next time.

export interface Rewritten {
  readonly texts: ReadonlyMap<string, string>
  readonly index: string
}

export interface RulesSetup {
  readonly now: number
  /** Newest first. */
  readonly history: readonly MemoryRecord[]
  /** Share of the limit: a model that works afterwards needs the rest. */
  readonly share?: number | undefined
}

export function consolidateByRules(
  files: Pick<MemoryFiles, 'texts' | 'index'>,
  { now, history, share = 1 }: RulesSetup,
): Rewritten {
  const before = storedMemories(files)
  const limits = goneMax(before, history, now)
  const budget = { left: Math.floor(Math.min(limits.now, limits.month) * share) }
  const dated = before.map(withDates)
  // What is wrong does more harm than what is said twice.
  const standing = endRefuted(dated, new Date(now).toISOString(), budget)
  const current = withoutDuplicates(standing, budget)
  const kept = current.filter(({ ended }) => ended === undefined || now - Date.parse(ended) < MONTH_MS)
  const texts = new Map(kept.map((memory) => [memory.name, textOf(memory, before, files)]))
  return { texts, index: rebuildIndex(files.index, kept) }
}

/** A memory that did not change stays as it is, to the byte. */
function textOf(memory: Memory, before: readonly Memory[], { texts }: Pick<MemoryFiles, 'texts'>): string {
  const was = before.find(({ name }) => name === memory.name)
  const isSame = was !== undefined && printMemory(was) === printMemory(memory)
  return isSame ? (texts.get(memory.name) ?? '') : printMemory(memory)
}

/** Texts of unknown authors stay as they are. */
function withDates(memory: Memory): Memory {
  if (!holds(memory) || memory.trust === 'tool') return memory
  const at = Date.parse(memory.created)
  const description = withAbsoluteDates(memory.description, at)
  return { ...memory, description, body: withAbsoluteDates(memory.body, at) }
}

interface Budget {
  left: number
}

function withoutDuplicates(memories: readonly Memory[], budget: Budget): readonly Memory[] {
  const kept: Memory[] = []
  const keptWords = keepWords()
  // The most trusted and oldest first: the others become part of it.
  for (const memory of memories.filter(holds).toSorted(surestFirst)) {
    const near = kept.filter((one) => mayBeSame(one, memory))
    const same = findSame(memory, near, keptWords)
    if (same === undefined || budget.left === 0) {
      kept.push(memory)
      continue
    }
    budget.left--
    kept[kept.indexOf(same)] = joined(same, memory)
  }
  const byName = new Map(kept.map((memory) => [memory.name, memory]))
  return memories.flatMap((memory) => (holds(memory) ? (byName.get(memory.name) ?? []) : [memory]))
}

/** Among equally trusted ones the oldest first: others know its name. */
function surestFirst(a: Memory, b: Memory): number {
  const byTrust = trustRank(a.trust) - trustRank(b.trust)
  return byTrust === 0 ? (a.created < b.created ? -1 : 1) : byTrust
}

/** The newest sources are kept, for a fact that is stated again and again. */
const SOURCES_KEPT = 20

function joined(same: Memory, other: Memory): Memory {
  return {
    ...same,
    source: sourcesOf([other, same]),
    created: same.created < other.created ? same.created : other.created,
    verified: same.verified > other.verified ? same.verified : other.verified,
  }
}

function sourcesOf(memories: readonly Memory[]): readonly MemorySource[] {
  const all = new Map(
    memories.flatMap(({ source }) => source.map((one) => [`${one.session} ${one.message}`, one] as const)),
  )
  return [...all.values()].slice(-SOURCES_KEPT)
}

/** The newer one ends the older one if it is trusted enough. */
function endRefuted(memories: readonly Memory[], now: string, budget: Budget): readonly Memory[] {
  const holding = memories.filter(holds).toSorted((a, b) => (a.created < b.created ? 1 : -1))
  const ended = new Map<string, string>()
  const keptWords = keepWords()
  for (const [i, newer] of holding.entries()) {
    if (ended.has(newer.name)) continue
    for (const older of holding.slice(i + 1)) {
      if (ended.has(older.name) || budget.left === 0 || older.created === newer.created) continue
      if (!mayEnd(newer.trust, older.trust) || !haveCommon(newer, older)) continue
      if (!contradicts(newer.description, older.description, keptWords)) continue
      budget.left--
      ended.set(older.name, newer.name)
    }
  }
  return memories.map((memory) => {
    const endedBy = ended.get(memory.name)
    return endedBy === undefined ? memory : { ...memory, ended: now, endedBy }
  })
}

const wordsByMemory = new WeakMap<Memory, ReadonlySet<string>>()

function wordsOf(memory: Memory): ReadonlySet<string> {
  const words = wordsByMemory.get(memory) ?? distinctiveWords(memoryText(memory))
  wordsByMemory.set(memory, words)
  return words
}

function commonWords(a: Memory, b: Memory): number {
  const other = wordsOf(b)
  return [...wordsOf(a)].filter((word) => other.has(word)).length
}

function haveCommon(a: Memory, b: Memory): boolean {
  return commonWords(a, b) > 0
}

/** A cheap check before the real one: with fewer common words they cannot be the same. */
function mayBeSame(a: Memory, b: Memory): boolean {
  const least = Math.min(wordsOf(a).size, wordsOf(b).size)
  return least === 0 || commonWords(a, b) >= least * COMMON_SHARE_MIN
}

const COMMON_SHARE_MIN = 0.8

/** How many more may go after these rules have removed some. */
export function leftToGo(
  files: Pick<MemoryFiles, 'texts'>,
  made: Rewritten,
  { now, history }: RulesSetup,
): number {
  const before = storedMemories(files)
  const limits = goneMax(before, history, now)
  return Math.min(limits.now, limits.month) - goneNames(before, storedMemories(made)).length
}
