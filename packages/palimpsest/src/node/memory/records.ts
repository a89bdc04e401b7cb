import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../../errors.ts'
import type { FilePatch, MemoryAuthor, MemoryRecord } from '../../memory-files.ts'
import { isJsonObject, parseJsonObject, type JsonObject } from '../../wire/json.ts'
import { createExclusively, syncFolder } from '../files/atomic-write.ts'
import { makeFolder, requireInside } from '../files/inside-home.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'
import { readMemoryText } from './memory-text.ts'

// The history of a memory folder: one numbered file per entry. Its name says whether the entry was finished.

const FOLDER = '.history'
const NUMBER_DIGITS = 8
const BEGUN = '.begun'
const DONE = '.json'

export interface Begun {
  readonly record: MemoryRecord
  readonly finish: () => Promise<void>
}

export interface Records {
  /** Newest first. */
  readonly list: () => Promise<readonly MemoryRecord[]>
  readonly hasBegun: () => Promise<boolean>
  /** Oldest first. */
  readonly begun: () => Promise<readonly Begun[]>
  /** On disk when it resolves. Only call this while holding the folder's lock. */
  readonly begin: (record: MemoryRecord) => Promise<Begun>
}

export function openRecords(home: string, memoryFolder: string): Records {
  const folder = join(memoryFolder, FOLDER)
  // An entry never changes, so it is read once.
  const known = new Map<string, MemoryRecord>()

  async function read(name: string): Promise<MemoryRecord> {
    const number = name.slice(0, NUMBER_DIGITS)
    const seen = known.get(number)
    if (seen) return seen
    const found = await readMemoryText(home, join(folder, name))
    const record = found.kind === 'text' ? parseRecord(found.text) : undefined
    if (record === undefined)
      throw new StorageError('io', `${join(folder, name)} is damaged, and with it the history. Move it away`)
    known.set(number, record)
    return record
  }

  function toBegun(name: string, record: MemoryRecord): Begun {
    const finish = async (): Promise<void> => {
      const path = join(folder, name)
      try {
        await rename(path, path.slice(0, -BEGUN.length) + DONE)
        await syncFolder(folder)
      } catch (error) {
        throw toStorageError(error, 'finish', path)
      }
    }
    return { record, finish }
  }

  return {
    list: async () => {
      const names = (await namesIn(home, folder)).filter((name) => name.endsWith(DONE))
      return await Promise.all(names.toReversed().map(read))
    },
    hasBegun: async () => (await namesIn(home, folder)).some((name) => name.endsWith(BEGUN)),
    begun: async () => {
      const names = (await namesIn(home, folder)).filter((name) => name.endsWith(BEGUN))
      return await Promise.all(names.map(async (name) => toBegun(name, await read(name))))
    },
    begin: async (record) => {
      await makeFolder(home, folder)
      const last = Number((await namesIn(home, folder)).at(-1)?.slice(0, NUMBER_DIGITS) ?? 0)
      const name = `${String(last + 1).padStart(NUMBER_DIGITS, '0')}${BEGUN}`
      if (!(await createExclusively(home, join(folder, name), `${JSON.stringify(record)}\n`)))
        throw new StorageError('io', `${join(folder, name)} is there already. Move it away`)
      return toBegun(name, record)
    },
  }
}

const NAME = /^\d{8}\.(?:begun|json)$/

/** In the order in which they were written. */
async function namesIn(home: string, folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder)
    await requireInside(home, folder)
    return names.filter((name) => NAME.test(name)).toSorted()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw toStorageError(error, 'read', folder)
  }
}

const AUTHORS: readonly MemoryAuthor[] = ['extract', 'dream', 'user', 'agent']

function parseRecord(text: string): MemoryRecord | undefined {
  const value = parseJsonObject(text)
  if (!value) return undefined
  const { id, at, by, session, reason, undoes, isMark, changed } = value
  const author = AUTHORS.find((one) => one === by)
  if (typeof id !== 'string' || typeof at !== 'number' || author === undefined) return undefined
  if (typeof reason !== 'string' || !Array.isArray(changed)) return undefined
  const patches = changed.map(parsePatch)
  return {
    id,
    at,
    by: author,
    reason,
    session: typeof session === 'string' ? session : undefined,
    undoes: typeof undoes === 'string' ? undoes : undefined,
    isMark: isMark === true ? true : undefined,
    changed: patches.filter((patch) => patch !== undefined),
  }
}

function parsePatch(value: unknown): FilePatch | undefined {
  if (!isJsonObject(value)) return undefined
  const { file, at, removed, added, before, after } = value
  if (typeof file !== 'string' || typeof at !== 'number') return undefined
  if (typeof removed !== 'string' || typeof added !== 'string') return undefined
  return { file, at, removed, added, before: parseMark(before), after: parseMark(after) }
}

function parseMark(value: unknown): FilePatch['before'] {
  if (!isJsonObject(value)) return null
  const { hash, bytes }: JsonObject = value
  return typeof hash === 'string' && typeof bytes === 'number' ? { hash, bytes } : null
}
