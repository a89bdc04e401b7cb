import type { MemoryChange, MemoryFiles, MemoryRecord } from '../../../memory-files.ts'
import { printMemory } from '../front-matter.ts'
import { INDEX_BYTES_MAX, INDEX_LINE_CHARS_MAX, INDEX_LINES_MAX, linesOf, pointedTo } from '../index-lines.ts'
import { isMemoryName } from '../memory-name.ts'
import { memoryText, type Memory, type MemorySource } from '../memory.ts'
import { holds, storedMemories } from '../stored-memories.ts'
import type { Rewritten } from './consolidate-by-rules.ts'
import { goneMax, goneNames } from './gone-limits.ts'
import { judgeMemory } from './judge-memory.ts'
import { judgeTrusted } from './judge-trusted.ts'
import { isWithinLimits, rebuildIndex } from './rebuild-index.ts'
import { rewriteEvidence, type SessionEvidence } from './rewrite-evidence.ts'

// Whether the files of a folder may become these. All or nothing: a rewrite of the whole memory can do harm to all of it.

export interface RewriteSituation {
  readonly now: number
  /** Newest first. */
  readonly history: readonly MemoryRecord[]
  /** Everything that was said in the sessions that new memories name. */
  readonly evidence: readonly SessionEvidence[]
  readonly findSecrets: (text: string) => Promise<readonly string[]>
}

export interface RewrittenMemory {
  readonly name: string
  readonly what: 'added' | 'changed' | 'merged' | 'ended' | 'removed'
}

export type RewriteVerdict =
  | {
      readonly kind: 'fine'
      readonly change: Pick<MemoryChange, 'texts' | 'index'>
      readonly changed: readonly RewrittenMemory[]
    }
  | { readonly kind: 'refused'; readonly why: readonly string[] }

/** A rewrite with more new memories is no consolidation. */
const ADDED_MAX = 20

export async function judgeRewrite(
  files: MemoryFiles,
  wanted: Rewritten,
  { now, history, evidence, findSecrets }: RewriteSituation,
): Promise<RewriteVerdict> {
  const before = storedMemories(files)
  const raw = storedMemories(wanted)
  const known = rewriteEvidence(evidence)
  const gone = goneNames(before, raw)
  const judged = raw.map((memory) =>
    files.texts.get(memory.name) === wanted.texts.get(memory.name)
      ? { memory, why: [] }
      : judgeMemory(memory, { before, gone: new Set(gone), known }),
  )
  const after = judged.map(({ memory }) => memory)
  const fresh = judged.filter(({ memory }) => !files.texts.has(memory.name))
  const why = [
    ...[...wanted.texts.keys()]
      .filter((name) => !isMemoryName(name))
      .map((name) => `"${name.slice(0, 80)}" cannot be the name of a memory`),
    ...judged.flatMap((one) => one.why),
    ...tooManyGone(gone.length, before, { history, now }),
    ...judgeTrusted(before, after, now),
    ...(fresh.length > ADDED_MAX ? [`${fresh.length} memories are new; at most ${ADDED_MAX} may be`] : []),
    ...indexProblems(files.index, wanted.index),
    ...(await secretProblems(judged, files, findSecrets)),
  ]
  if (why.length > 0) return { kind: 'refused', why }
  return fineOf(files, after, wanted.index)
}

function fineOf(files: MemoryFiles, after: readonly Memory[], index: string): RewriteVerdict {
  const before = storedMemories(files)
  const printed = new Map(after.map((memory) => [memory.name, textOf(memory, before, files)]))
  const removed = [...files.texts.keys()].filter((name) => !printed.has(name))
  const texts = new Map<string, string | null>([
    ...[...printed].filter(([name, text]) => files.texts.get(name) !== text),
    ...removed.map((name) => [name, null] as const),
  ])
  const changed = [...texts.keys()].map((name) => ({ name, what: whatOf(name, before, after) }))
  return { kind: 'fine', change: { texts, index: rebuildIndex(index, after) }, changed }
}

function textOf(memory: Memory, before: readonly Memory[], { texts }: MemoryFiles): string {
  const was = before.find(({ name }) => name === memory.name)
  const isSame = was !== undefined && printMemory(was) === printMemory(memory)
  return isSame ? (texts.get(memory.name) ?? '') : printMemory(memory)
}

function whatOf(name: string, before: readonly Memory[], after: readonly Memory[]): RewrittenMemory['what'] {
  const was = before.find((one) => one.name === name)
  const is = after.find((one) => one.name === name)
  if (is === undefined) return 'removed'
  if (was === undefined) return 'added'
  if (holds(was) && !holds(is)) return 'ended'
  const isOf = ({ source }: Memory, { message }: MemorySource): boolean =>
    source.some((one) => one.message === message)
  const others = before.filter((one) => one !== was)
  const isMerged = is.source.some((one) => !isOf(was, one) && others.some((other) => isOf(other, one)))
  return isMerged ? 'merged' : 'changed'
}

function tooManyGone(
  count: number,
  before: readonly Memory[],
  { history, now }: { readonly history: readonly MemoryRecord[]; readonly now: number },
): readonly string[] {
  const limits = goneMax(before, history, now)
  const held = before.filter(holds).length
  if (count > limits.now) return [`${count} of ${held} memories would go; at most ${limits.now} may (25%)`]
  if (count > limits.month)
    return [`${count} of ${held} memories would go; within 30 days at most ${limits.month} more may (40%)`]
  return []
}

/** Lines that were there before are not counted as problems. */
function indexProblems(before: string, index: string): readonly string[] {
  if (index === before) return []
  const old = new Set(linesOf(before))
  const lines = linesOf(index).filter((line) => !old.has(line))
  const long = lines.filter((line) => line.length > INDEX_LINE_CHARS_MAX)
  const loose = lines.filter((line) => line.trim() !== '' && pointedTo(line) === undefined)
  return [
    ...(isWithinLimits(index)
      ? []
      : [`the index is over its limit of ${INDEX_LINES_MAX} lines and ${INDEX_BYTES_MAX} bytes`]),
    ...(long.length === 0
      ? []
      : [`${long.length} lines of the index have over ${INDEX_LINE_CHARS_MAX} characters`]),
    ...loose.slice(0, 1).map((line) => `a line of the index points to no memory: ${line.slice(0, 80)}`),
  ]
}

async function secretProblems(
  judged: readonly { readonly memory: Memory }[],
  files: MemoryFiles,
  findSecrets: RewriteSituation['findSecrets'],
): Promise<readonly string[]> {
  const known = new Set(storedMemories(files).map(memoryText))
  const fresh = judged.map(({ memory }) => memory).filter((memory) => !known.has(memoryText(memory)))
  const found = await Promise.all(
    fresh.map(async (memory) => ({
      memory,
      secrets: await findSecrets(`${memory.name}\n${memoryText(memory)}`),
    })),
  )
  return found
    .filter(({ secrets }) => secrets.length > 0)
    .map(({ memory, secrets }) => `${memory.name} holds a secret (${secrets.join(', ')})`)
}
