import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { StorageError } from 'palimpsest'
import { ownIdentity, stateOf, toStorageError, type ProcessIdentity } from 'palimpsest/node'
import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

// What all sessions of a day have cost, one line a request, in a file that every process of this home appends to. A request is written down twice:
// as what it may come to before it is sent, and as what it cost. A line that stands further up was first, so that two processes that want the
// last dollar at once both see who gets it, without a lock that somebody could leave behind.

export interface DayLedger {
  /** What was spent, and what is set aside, as far as it was written down. */
  readonly figures: () => DayFigures
  /** Sets aside, then looks: undefined where others were there first and too little is left. */
  readonly hold: (amount: DayAmount) => Promise<DayHold | undefined>
  /** Writes down what was not set aside. */
  readonly add: (usd: number) => Promise<void>
}

export interface DayFigures {
  readonly spentUsd: number
  readonly heldUsd: number
}

export interface DayAmount {
  readonly neededUsd: number
  readonly mostUsd: number
  readonly maxUsd: number
}

export interface DayHold {
  readonly settle: (usd: number) => Promise<void>
}

interface Account {
  readonly order: number
  readonly heldUsd: number
  /** What it costs if nobody says how it ended. */
  readonly promptUsd: number
  readonly by: ProcessIdentity | undefined
  /** Undefined: under way. */
  readonly spentUsd: number | undefined
}

const FOLDER = 'spending'
const NAME = /^\d{4}-\d\d-\d\d\.jsonl$/
/** Nobody asks what an older day cost; a file is a few hundred kilobytes at most. */
const DAYS_KEPT = 40
const DAY_MS = 24 * 3_600_000
const READ_BYTES = 65_536

export function openDayLedger(
  home: string,
  {
    session,
    now,
    newId,
  }: { readonly session: string; readonly now: () => number; readonly newId: () => string },
): DayLedger {
  const folder = join(home, FOLDER)
  let reader = createReader('')
  let made: Promise<void> | undefined
  const today = (): Reader => {
    const path = join(folder, `${dayOf(now())}.jsonl`)
    if (reader.path !== path) {
      reader = createReader(path)
      made = undefined
    }
    return reader
  }
  const append = async ({ path }: Reader, line: Json): Promise<void> => {
    try {
      await (made ??= makeFolder(folder, now()))
      await appendLine(path, `${JSON.stringify(line)}\n`)
    } catch (error) {
      made = undefined
      throw toStorageError(error, 'write down what is spent in', path)
    }
  }
  return {
    figures: () => sumOf(today().read()),
    add: async (usd) => {
      if (usd > 0) await append(today(), { id: newId(), session, usd })
    },
    hold: async ({ neededUsd, mostUsd, maxUsd }) => {
      const day = today()
      const id = newId()
      const by = toJson(await ownIdentity())
      await append(day, { id, session, held: mostUsd, prompt: neededUsd, by })
      const settle = async (usd: number): Promise<void> => append(day, { id, session, usd })
      await day.look()
      const accounts = day.read()
      const own = accounts.get(id)
      const before = sumOf(accounts, own?.order)
      const leftUsd = maxUsd - before.spentUsd - before.heldUsd
      // An answer was cut to what is left, unless somebody else took some of that meanwhile: then it might cost more than there is.
      if (mostUsd <= leftUsd || (neededUsd <= leftUsd && before.heldUsd === 0)) return { settle }
      await settle(0)
      return undefined
    },
  }
}

/** By the clock on the wall: a day is the user's. */
export function dayOf(ms: number): string {
  const date = new Date(ms)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

async function makeFolder(folder: string, now: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const oldest = dayOf(now - DAYS_KEPT * DAY_MS)
  const old = (await readdir(folder)).filter((name) => NAME.test(name) && name < oldest)
  await Promise.all(old.map((name) => rm(join(folder, name), { force: true })))
}

/** A pipe, or a link to elsewhere, is nothing of ours: without waiting for it, it is refused. */
const OURS = constants.O_NOFOLLOW | constants.O_NONBLOCK

async function appendLine(path: string, line: string): Promise<void> {
  const file = await open(path, OURS | constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600)
  try {
    if (!(await file.stat()).isFile()) throw new StorageError('io', notAFile(path))
    await file.appendFile(line)
  } finally {
    await file.close()
  }
}

function notAFile(path: string): string {
  return `${path} is no file. Move it away: what is spent is written there`
}

interface Reader {
  readonly path: string
  /** What the file says, with what was appended since the last time. */
  readonly read: () => ReadonlyMap<string, Account>
  /** Looks which processes have died that left something under way. */
  readonly look: () => Promise<void>
}

function createReader(path: string): Reader {
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
        // It was asked, and may have been answered: what the prompt costs is paid.
        if ((await stateOf(account.by)) === 'gone')
          accounts.set(id, { ...account, spentUsd: account.promptUsd })
      }
    },
  }
}

/** What was appended. A file that is not there says nothing. */
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
    throw toStorageError(error, 'read what was spent from', path)
  }
}

/** A line that a full disk cut off says nothing. */
function take(line: string, accounts: Map<string, Account>): void {
  const value = parse(line)
  if (value === undefined || typeof value['id'] !== 'string') return
  const { id } = value
  const known = accounts.get(id) ?? {
    order: accounts.size,
    heldUsd: 0,
    promptUsd: 0,
    by: undefined,
    spentUsd: undefined,
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

function parse(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isUsd(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function toJson({ pid, host, startTicks, boot }: ProcessIdentity): Json {
  return { pid, host, ...(startTicks !== undefined && { startTicks }), ...(boot !== undefined && { boot }) }
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

/** `before`: of what is under way only what came earlier counts; who came later makes way. */
function sumOf(accounts: ReadonlyMap<string, Account>, before = Infinity): DayFigures {
  let [spentUsd, heldUsd] = [0, 0]
  for (const account of accounts.values()) {
    if (account.spentUsd !== undefined) spentUsd += account.spentUsd
    else if (account.order < before) heldUsd += account.heldUsd
  }
  return { spentUsd, heldUsd }
}
