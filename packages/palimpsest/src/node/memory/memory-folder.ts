import { randomUUID } from 'node:crypto'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../../errors.ts'
import { applyPatch, makePatch } from '../../layers/5-memory/file-patch.ts'
import { isMemoryName } from '../../layers/5-memory/memory-name.ts'
import type { FilePatch, MemoryChange, MemoryFiles, MemoryRecord } from '../../memory-files.ts'
import type { MemoryFolder } from '../../ports.ts'
import { syncFolder, writeAtomically } from '../files/atomic-write.ts'
import { makeFolder, requireInside } from '../files/inside-home.ts'
import { waitForLock } from '../files/lock.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'
import { appendDaily } from './daily-log.ts'
import { readMemoryText, readMemoryTexts } from './memory-text.ts'
import { createPendingFolder } from './pending-folder.ts'
import { createUses } from './uses.ts'
import { openRecords, type Records } from './records.ts'

// A folder of memories. Every change is first recorded in the history and then made: whoever finds an unfinished entry finishes it. So
// files and history agree, whenever a writer is killed. No one writes without the folder's lock.

export const INDEX = 'MEMORY'
const LOCK = '.lock'

export interface MemoryFolderOptions {
  /** From `openHome`. */
  readonly home: string
  /** A folder below the home; created with the first change. */
  readonly path: string
  readonly now: () => number
}

export function createMemoryFolder(options: MemoryFolderOptions): MemoryFolder {
  const { home, path } = options
  const records = openRecords(home, path)
  const locked = async <T>(work: () => Promise<T>): Promise<T> => {
    await makeFolder(home, path)
    const lock = await waitForLock(home, join(path, LOCK), 'the memories')
    try {
      await finishBegun(options, records)
      return await work()
    } finally {
      await lock.release()
    }
  }
  const settled = async (): Promise<void> => {
    if (await records.hasBegun()) await locked(async () => undefined)
  }
  return {
    path,
    read: async () => {
      await settled()
      return await readFiles(home, path)
    },
    change: async (decide) =>
      await locked(async () => {
        const files = await readFiles(home, path)
        const change = await decide(files, records.list)
        return change && (await makeChange(change, files, options, records))
      }),
    history: async () => {
      await settled()
      return await records.list()
    },
    ...createPendingFolder({ home, path, locked }),
    ...createUses({ home, path, locked }),
    log: async (at, line) => await appendDaily({ home, path }, at, line),
  }
}

async function makeChange(
  { texts, index, ...about }: MemoryChange,
  files: MemoryFiles,
  { home, path, now }: MemoryFolderOptions,
  records: Records,
): Promise<MemoryRecord | undefined> {
  const memories = [...texts].map(([name, text]) => makePatch(name, files.texts.get(name) ?? null, text))
  const all = [
    ...memories,
    makePatch(INDEX, files.index === '' ? null : files.index, index === '' ? null : index),
  ]
  const changed = all.filter(({ before, after }) => before?.hash !== after?.hash)
  if (changed.length === 0) return undefined
  for (const { file } of changed) requireName(file, files)
  requireText(index)
  for (const text of texts.values()) requireText(text)
  const record: MemoryRecord = { id: randomUUID(), at: now(), ...about, changed }
  const begun = await records.begin(record)
  const fresh = new Map<string, string | null>([...texts, [INDEX, index === '' ? null : index]])
  for (const { file } of changed) await place(home, path, file, fresh.get(file) ?? null)
  await begun.finish()
  return record
}

/**
 * Finishes entries that were begun. A file that is neither in its old nor in its new state was changed by someone else since, so it stays.
 */
async function finishBegun({ home, path }: MemoryFolderOptions, records: Records): Promise<void> {
  for (const { record, finish } of await records.begun()) {
    for (const patch of record.changed) {
      if (!isSafe(patch)) continue
      const now = await readMemoryText(home, fileOf(path, patch.file))
      const after =
        now.kind === 'unusable' ? undefined : applyPatch(patch, now.kind === 'text' ? now.text : null)
      if (after !== undefined) await place(home, path, patch.file, after)
    }
    await finish()
  }
}

function isSafe({ file }: FilePatch): boolean {
  return file === INDEX || isMemoryName(file)
}

function requireName(file: string, { unusable }: MemoryFiles): void {
  const why = unusable.get(file)
  if (why !== undefined) throw new StorageError('io', `${file}.md cannot be changed: ${why}. Move it away`)
  if (file !== INDEX && !isMemoryName(file))
    throw new StorageError('no-permission', `"${file.slice(0, 80)}" cannot be the name of a memory`)
}

/** Nothing can read a file that is not text: written into the index, it would make the folder unusable. */
function requireText(text: string | null): void {
  if (text?.includes('\0') === true)
    throw new StorageError('io', 'a memory is text: this one has a zero byte, and nothing was written')
}

function fileOf(path: string, name: string): string {
  return join(path, `${name}.md`)
}

async function place(home: string, path: string, name: string, text: string | null): Promise<void> {
  const file = fileOf(path, name)
  if (text !== null) return await writeAtomically(home, file, text)
  try {
    await requireInside(home, path)
    await unlink(file)
    await syncFolder(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw toStorageError(error, 'delete', file)
  }
}

async function readFiles(home: string, path: string): Promise<MemoryFiles> {
  const texts = new Map<string, string>()
  const unusable = new Map<string, string>()
  let index = ''
  const names = await namesIn(home, path)
  const files = await readMemoryTexts(
    home,
    names.map((name) => fileOf(path, name)),
  )
  for (const [i, found] of files.entries()) {
    const name = names[i] ?? ''
    if (found.kind === 'unusable') unusable.set(name, found.why)
    else if (found.kind === 'text' && name === INDEX) index = found.text
    else if (found.kind === 'text' && isMemoryName(name)) texts.set(name, found.text)
    else if (found.kind === 'text') unusable.set(name, 'its name cannot be that of a memory')
  }
  return { index, texts, unusable }
}

/** Names of Markdown files without the ending, in the same order everywhere. */
async function namesIn(home: string, path: string): Promise<readonly string[]> {
  try {
    const names = await readdir(path)
    await requireInside(home, path)
    return names
      .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
      .map((name) => name.slice(0, -'.md'.length))
      .toSorted()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw toStorageError(error, 'read', path)
  }
}
