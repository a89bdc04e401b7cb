import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'

import { StorageError } from 'palimpsest'
import { stateOf, toStorageError, type ProcessIdentity } from 'palimpsest/node'
import { isJsonObject, type Json } from 'palimpsest/wire'

import { parseJsonObject } from '../../agent/files/parse-json-object.ts'

// The file of one day. Every process of a home appends to it, and each reads on from where it stopped.

export interface Account {
  readonly order: number
  readonly heldUsd: number
  /** Counts as the cost if no line says how the request ended, in US dollars. */
  readonly promptUsd: number
  readonly by: ProcessIdentity | undefined
  /** Undefined: still under way. */
  readonly spentUsd: number | undefined
  readonly session: string | undefined
  readonly project: string | undefined
  /** Who made the request. */
  readonly source: string | undefined
}

const READ_BYTES = 65_536

/** Refuses a pipe or a link to elsewhere without waiting: neither is our file. */
const OURS = constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Appends the whole line, or part of it if the disk is full. */
export async function appendLine(path: string, line: string): Promise<void> {
  const file = await open(path, OURS | constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600)
  try {
    if (!(await file.stat()).isFile()) throw new StorageError('io', notAFile(path))
    await file.appendFile(line)
  } finally {
    await file.close()
  }
}

function notAFile(path: string): string {
  return `${path} is not a file. Move it away: Palimpsest records spending there`
}

export interface DayReader {
  readonly path: string
  /** The accounts in the file, including lines appended since the last read. */
  readonly read: () => ReadonlyMap<string, Account>
  /** Finds processes that died with a request under way. */
  readonly look: () => Promise<void>
}

export function createDayReader(path: string): DayReader {
  const accounts = new Map<string, Account>()
  let [offset, rest] = [0, '']
  const read = (): ReadonlyMap<string, Account> => {
    const added = readFrom(path, offset)
    offset += added.length
    const lines = (rest + added.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line, accounts)
    return accounts
  }
  return {
    path,
    read,
    look: async () => {
      for (const [id, account] of read()) {
        if (account.spentUsd !== undefined || account.by === undefined) continue
        // The request was sent, and may have been answered: count the cost of the prompt.
        if ((await stateOf(account.by)) === 'gone')
          accounts.set(id, { ...account, spentUsd: account.promptUsd })
      }
    },
  }
}

/** The bytes appended since. A missing file has none. */
function readFrom(path: string, offset: number): Buffer {
  const file = openOrNone(path)
  if (file === undefined) return Buffer.alloc(0)
  try {
    const chunks: Buffer[] = []
    const facts = fstatSync(file)
    if (!facts.isFile()) throw new StorageError('io', notAFile(path))
    const { size } = facts
    for (let at = offset; at < size;) {
      const chunk = Buffer.alloc(Math.min(READ_BYTES, size - at))
      const count = readSync(file, chunk, 0, chunk.length, at)
      if (count === 0) break
      chunks.push(chunk.subarray(0, count))
      at += count
    }
    return Buffer.concat(chunks)
  } finally {
    closeSync(file)
  }
}

function openOrNone(path: string): number | undefined {
  try {
    return openSync(path, OURS | constants.O_RDONLY)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw toStorageError(error, 'read the spending from', path)
  }
}

/** Ignores a line that a full disk cut off. */
function take(line: string, accounts: Map<string, Account>): void {
  const value = parseJsonObject(line)
  if (value === undefined || typeof value['id'] !== 'string') return
  const { id } = value
  const known = accounts.get(id) ?? {
    order: accounts.size,
    heldUsd: 0,
    promptUsd: 0,
    by: undefined,
    spentUsd: undefined,
    session: textIn(value['session']),
    project: textIn(value['project']),
    source: textIn(value['source']),
  }
  if (isUsd(value['usd'])) accounts.set(id, { ...known, spentUsd: value['usd'] })
  else if (isUsd(value['held']) && isUsd(value['prompt']))
    accounts.set(id, {
      ...known,
      heldUsd: value['held'],
      promptUsd: value['prompt'],
      by: identityIn(value['by']),
    })
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isUsd(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function identityIn(value: Json | undefined): ProcessIdentity | undefined {
  if (!isJsonObject(value)) return undefined
  const { pid, host, startTicks, boot } = value
  if (typeof pid !== 'number' || typeof host !== 'string') return undefined
  return {
    pid,
    host,
    ...(typeof startTicks === 'string' && { startTicks }),
    ...(typeof boot === 'string' && { boot }),
  }
}
