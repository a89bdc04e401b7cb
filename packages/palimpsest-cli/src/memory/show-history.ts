import { diffArrays } from 'diff'
import { UsageError, type MemoryRecord } from 'palimpsest'
import { undoneIds } from 'palimpsest/memory'

import { toPrintable, toPrintableJson } from '../agent/printable.ts'
import { findById, ID_CHARS } from '../stored/find-by-id.ts'
import { DONE, type ExitCode } from '../world.ts'
import type { AnyScope, OpenedMemories, ScopedMemory } from './memory-scopes.ts'
import type { MemoryCall } from './memory-call.ts'

interface Logged {
  readonly memory: ScopedMemory<AnyScope>
  readonly record: MemoryRecord
  readonly isUndone: boolean
}

/** Changes in all folders, newest first, without the notes that something was verified. */
async function readLog({ memories }: OpenedMemories): Promise<readonly Logged[]> {
  const logs = await Promise.all(
    memories.map(async (memory) => {
      const history = await memory.folder.history()
      const undone = undoneIds(history)
      return history
        .filter(({ isMark }) => isMark !== true)
        .map((record) => ({ memory, record, isUndone: undone.has(record.id) }))
    }),
  )
  return logs.flat().toSorted((a, b) => b.record.at - a.record.at)
}

export async function showLog({ opened, isJson, world }: MemoryCall): Promise<ExitCode> {
  const log = await readLog(opened)
  if (isJson) world.print(`${toPrintableJson(log.map(toRow))}\n`)
  else if (log.length === 0) world.printError('No changes yet.\n')
  else for (const one of log) world.print(toPrintable(toLine(one)))
  return DONE
}

/** One row of `palimpsest memory log --json`. */
function toRow({ memory, record, isUndone }: Logged): object {
  const { id, at, by, session, reason, changed } = record
  return {
    id,
    at: new Date(at).toISOString(),
    by,
    session,
    scope: memory.scope,
    reason,
    changed: changed.map(({ file, before, after }) => ({
      name: file,
      before_bytes: before?.bytes ?? null,
      after_bytes: after?.bytes ?? null,
    })),
    undone: isUndone,
  }
}

function toLine({ memory, record, isUndone }: Logged): string {
  const { id, at, by, reason, changed } = record
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  const names = changed.map(({ file }) => file).filter((file) => file !== 'MEMORY')
  return `${when}  ${id.slice(0, ID_CHARS)}  ${by}  ${memory.scope}  ${reason}: ${names.join(', ')}${isUndone ? '  (undone)' : ''}\n`
}

export async function showDiff({ opened, words, isJson, world }: MemoryCall): Promise<ExitCode> {
  const [typed] = words
  if (typed === undefined)
    throw new UsageError('memory diff: which change? `palimpsest memory log` lists changes by id')
  const found = await findInHistory(typed, opened)
  if (!found) throw new UsageError(`no change "${typed}". \`palimpsest memory log\` lists them`)
  const { changed } = found.record
  if (isJson) {
    const rows = changed.map(({ file, removed, added, at }) => ({ name: file, at, removed, added }))
    world.print(`${toPrintableJson(rows)}\n`)
  } else
    for (const { file, removed, added } of changed) world.print(toPrintable(diffText(file, removed, added)))
  return DONE
}

/** A text with more changes is shown as all old lines and all new ones: comparing them would take noticeably long. */
const CHANGES_MAX = 800

/** The removed and added lines, in place; unchanged lines between them are left out. */
export function diffText(file: string, before: string, after: string): string {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const changes = diffArrays(old, fresh, { maxEditLength: CHANGES_MAX }) ?? [
    { value: old, removed: true, added: false },
    { value: fresh, removed: false, added: true },
  ]
  const shown = changes.flatMap(({ value, removed, added }) =>
    removed || added ? value.map((line) => `${removed ? '-' : '+'} ${line}\n`) : [],
  )
  return [`${file}.md\n`, ...shown].join('')
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** Finds a change by its id or the start of it; without one, the newest that is neither undone nor an undo. */
export async function findInHistory(
  typed: string | undefined,
  opened: OpenedMemories,
): Promise<Logged | undefined> {
  const log = await readLog(opened)
  if (typed === undefined) return log.find(({ record, isUndone }) => record.undoes === undefined && !isUndone)
  const found = findById(
    typed,
    log.map((one) => ({ id: one.record.id, one })),
    'changes',
  )
  if (!found) throw new UsageError(`no change "${typed}". \`palimpsest memory log\` lists them`)
  return found.one
}
