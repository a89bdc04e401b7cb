import type { MemoryChange, MemoryFiles, MemoryRecord } from '../../memory-files.ts'
import type { Clock, MemoryFolder, TraceEvent } from '../../ports.ts'
import type { Hold } from './consolidation-lock.ts'

// One consolidation, from a copy of the files to their replacement. Whatever goes wrong, nothing has changed, and the time of the last one
// stays as it was.

export interface DreamFiles {
  readonly texts: ReadonlyMap<string, string>
  readonly index: string
}

/** A copy of the memories, to work on. */
export interface DreamCopy {
  readonly path: string
  readonly read: () => Promise<DreamFiles>
  readonly remove: () => Promise<void>
}

export interface Changed {
  readonly name: string
  readonly what: string
}

export type DreamVerdict =
  | {
      readonly kind: 'fine'
      readonly change: Pick<MemoryChange, 'texts' | 'index'>
      readonly changed: readonly Changed[]
    }
  | { readonly kind: 'refused'; readonly why: readonly string[] }

/** How the agent ended. */
export interface Thought {
  readonly requests: number
  readonly costUsd: number
  /** Why it did not end by itself. */
  readonly failed?: string | undefined
}

export interface DreamPorts {
  readonly folder: MemoryFolder
  readonly clock: Pick<Clock, 'now'>
  readonly trace: (event: TraceEvent) => void
  readonly openCopy: (files: DreamFiles) => Promise<DreamCopy>
  /** Does what needs no model. It runs first, so that no model is asked about that. */
  readonly tidy: (files: MemoryFiles, history: readonly MemoryRecord[]) => DreamFiles
  /** The agent. Absent: only the rules consolidate. */
  readonly think?: ((copy: DreamCopy, signal: AbortSignal) => Promise<Thought>) | undefined
  readonly judge: (
    files: MemoryFiles,
    wanted: DreamFiles,
    history: readonly MemoryRecord[],
  ) => Promise<DreamVerdict>
}

export interface DreamWish {
  /** Says what would change, and changes nothing. */
  readonly isDry: boolean
  /** The session that it runs in. */
  readonly session?: string | undefined
}

interface Spent {
  readonly requests: number
  readonly costUsd: number
}

export type DreamOutcome = Spent &
  (
    | {
        readonly kind: 'completed'
        readonly changed: readonly Changed[]
        /** The entry of the history; undefined if nothing changed. */
        readonly record: MemoryRecord | undefined
        /** The files as they are now, or would be. */
        readonly change: Pick<MemoryChange, 'texts' | 'index'>
        readonly before: MemoryFiles
      }
    /** `isLate`: someone wrote meanwhile, which is nobody's fault. */
    | { readonly kind: 'failed'; readonly why: readonly string[]; readonly isLate?: boolean }
    | { readonly kind: 'killed' }
  )

/** Name of the index file. */
const INDEX = 'MEMORY'
const WRITTEN_MEANWHILE = 'the memories changed meanwhile; Palimpsest will try again at the next chance'

export async function runDream(
  hold: Hold,
  wish: DreamWish,
  ports: DreamPorts,
  signal: AbortSignal,
): Promise<DreamOutcome> {
  const spent = { requests: 0, costUsd: 0 }
  const outcome = await dream(hold, { ...wish, spent }, ports, signal).catch((error: unknown): DreamOutcome =>
    signal.aborted ? { kind: 'killed', ...spent } : { kind: 'failed', why: [textOf(error)], ...spent },
  )
  const { requests, costUsd } = outcome
  // What became of the memories is reported even if the lock cannot be released.
  await (outcome.kind === 'completed' && !wish.isDry ? hold.finish() : hold.giveUp()).catch(
    (error: unknown) => ports.trace({ name: 'dream', reason: textOf(error), requests, costUsd }),
  )
  const why = outcome.kind === 'failed' ? outcome.why.join('; ') : undefined
  ports.trace({ name: 'dream', reason: why ?? outcome.kind, requests, costUsd })
  return outcome
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function dream(
  hold: Hold,
  { isDry, session, spent }: DreamWish & { readonly spent: { requests: number; costUsd: number } },
  ports: DreamPorts,
  signal: AbortSignal,
): Promise<DreamOutcome> {
  const { folder, openCopy, tidy, think, judge } = ports
  const before = await folder.read()
  const closed = before.unusable.get(INDEX)
  // Every consolidation writes the index: nobody should pay for one that cannot succeed.
  if (closed !== undefined)
    return { kind: 'failed', why: [`${INDEX}.md cannot be changed: ${closed}. Move it away`], ...spent }
  const history = await folder.history()
  const tidied = tidy(before, history)
  const wanted = think === undefined ? tidied : await thinkOver(tidied, { openCopy, think, spent }, signal)
  if (signal.aborted) return { kind: 'killed', ...spent }
  if ('failed' in wanted) return { kind: 'failed', why: [wanted.failed], ...spent }
  const verdict = await judge(before, wanted, history)
  if (verdict.kind === 'refused') return { ...verdict, kind: 'failed', ...spent }
  const { change, changed } = verdict
  if (isDry) return { kind: 'completed', changed, record: undefined, change, before, ...spent }
  if (!(await hold.isOurs())) return { kind: 'failed', why: ['another process took over'], ...spent }
  let isLate = false
  const record = await folder.change((files) => {
    isLate = !isSame(files, before)
    if (isLate || signal.aborted) return undefined
    return { by: 'dream', session, reason: reasonOf(changed), ...change }
  })
  if (signal.aborted && record === undefined) return { kind: 'killed', ...spent }
  if (isLate) return { kind: 'failed', why: [WRITTEN_MEANWHILE], isLate, ...spent }
  return { kind: 'completed', changed, record, change, before, ...spent }
}

async function thinkOver(
  files: DreamFiles,
  {
    openCopy,
    think,
    spent,
  }: Pick<DreamPorts, 'openCopy'> & {
    readonly think: NonNullable<DreamPorts['think']>
    readonly spent: { requests: number; costUsd: number }
  },
  signal: AbortSignal,
): Promise<DreamFiles | { readonly failed: string }> {
  const copy = await openCopy(files)
  try {
    const { requests, costUsd, failed } = await think(copy, signal)
    Object.assign(spent, { requests, costUsd })
    return failed === undefined ? await copy.read() : { failed }
  } finally {
    await copy.remove()
  }
}

/** Content decides: writing the same bytes again changes nothing. */
function isSame(files: MemoryFiles, before: MemoryFiles): boolean {
  const names = new Set([...files.texts.keys(), ...before.texts.keys()])
  return (
    files.index === before.index &&
    [...names].every((name) => files.texts.get(name) === before.texts.get(name))
  )
}

function reasonOf(changed: readonly Changed[]): string {
  const counts = new Map<string, number>()
  for (const { what } of changed) counts.set(what, (counts.get(what) ?? 0) + 1)
  const parts = [...counts].map(([what, count]) => `${count} ${what}`)
  return parts.length === 0 ? 'consolidated: the index was rebuilt' : `consolidated: ${parts.join(', ')}`
}
