import { reportContext, type ContextReport, type Thresholds } from './thresholds.ts'
import type { WindowReading } from './situation.ts'
import { isRemoval } from '../transcript/entry.ts'
import { everInLog } from '../transcript/ever-in-log.ts'
import { blockKey, type View } from '../transcript/view.ts'
import { voidedBy } from '../transcript/voided.ts'

// What the user undid stays undone: until the next compaction nothing automatic acts before the blocking limit, and what an undone clearing
// had cleared is not cleared again.

export interface Undone {
  readonly isAny: boolean
  /** Blocks of undone clearings. */
  readonly blocks: ReadonlySet<string>
}

const NOTHING: Undone = { isAny: false, blocks: new Set() }

const hasVoid = everInLog(({ kind }) => kind === 'void')

/** A screen asks at every redraw. */
const known = new WeakMap<View['log'], { readonly length: number; readonly undone: Undone }>()

/** What was undone since the newest boundary in force. */
export function undoneIn(view: Pick<View, 'log' | 'boundary'>): Undone {
  const { log } = view
  if (!hasVoid(log)) return NOTHING
  const before = known.get(log)
  if (before?.length === log.length) return before.undone
  const undone = findUndone(view)
  known.set(log, { length: log.length, undone })
  return undone
}

function findUndone({ log, boundary }: Pick<View, 'log' | 'boundary'>): Undone {
  const since = boundary ? log.slice(log.indexOf(boundary.entry) + 1) : log
  if (!since.some(({ kind }) => kind === 'void')) return NOTHING
  const voided = voidedBy(log)
  const targets = new Set(
    since.flatMap((entry) => (entry.kind === 'void' && !voided.has(entry.id) ? [entry.target] : [])),
  )
  const undone = log.filter((entry) => targets.has(entry.id) && isRemoval(entry))
  const blocks = undone.flatMap((entry) =>
    entry.kind === 'edit' ? entry.replace.map(({ at }) => blockKey(at)) : [],
  )
  // A target before the loaded part can only be a boundary.
  const isAny = undone.length > 0 || [...targets].some((id) => !log.some((entry) => entry.id === id))
  return { isAny, blocks: new Set(blocks) }
}

/** The thresholds that hold for this conversation now. Ask again after each entry: a compaction ends what an undo began. */
export function thresholdsInForce(view: Pick<View, 'log' | 'boundary'>, thresholds: Thresholds): Thresholds {
  return thresholdsAfterUndo(thresholds, undoneIn(view))
}

function thresholdsAfterUndo(thresholds: Thresholds, { isAny }: Undone): Thresholds {
  return isAny ? { ...thresholds, auto: Math.max(thresholds.auto, thresholds.blocking) } : thresholds
}

/** Whether something was undone since the newest answer: it is in view again, and the last request did not carry it. */
export function isUndoneSince({ log, nodes }: View): boolean {
  if (!hasVoid(log)) return false
  const answer = nodes.findLast((node) => node.role === 'assistant')?.source
  const undone = log.findLastIndex(({ kind }) => kind === 'void')
  return undone >= 0 && undone > log.findLastIndex(({ id }) => id === answer?.id)
}

/** Where the conversation stands, with the thresholds that hold now. */
export function reportNow(
  usedTokens: number,
  view: Pick<View, 'log' | 'boundary'>,
  reading: Pick<WindowReading, 'window' | 'thresholds' | 'autoEnabled'>,
): ContextReport {
  return reportContext(usedTokens, { ...reading, thresholds: thresholdsInForce(view, reading.thresholds) })
}
