import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { BesideSums } from 'palimpsest/engine'
import { ownIdentity, toStorageError, type ProcessIdentity } from 'palimpsest/node'
import type { Json } from 'palimpsest/wire'

import { appendLine, createDayReader, type Account, type DayReader } from './day-file.ts'
import { createProjectBill } from './project-bill.ts'

// What all sessions of a day have cost, one line per request, in a file that every process of this home appends to. Each request is written
// twice: before it is sent, with its highest possible cost, and after it, with its real cost. The earlier line wins. So if two processes
// want the last dollar at the same time, both see who gets it, without a lock that a crash could leave behind.

export interface DayLedger {
  /** What other sessions of this project cost in the last 30 days; undefined until that has been read. */
  readonly elsewhere: () => BesideSums | undefined
  /** What was spent and what is set aside, as far as it is written down. */
  readonly figures: () => DayFigures
  /** Sets aside first, then checks: undefined if other requests came first and too little is left. */
  readonly hold: (amount: DayAmount) => Promise<DayHold | undefined>
  /** Writes down a cost that was not set aside. */
  readonly add: (usd: number, source: string) => Promise<void>
}

export interface DayFigures {
  readonly spentUsd: number
  readonly heldUsd: number
}

export interface DayAmount {
  readonly neededUsd: number
  readonly mostUsd: number
  readonly maxUsd: number
  readonly source: string
}

export interface DayHold {
  readonly settle: (usd: number) => Promise<void>
}

const FOLDER = 'spending'
const NAME = /^\d{4}-\d\d-\d\d\.jsonl$/
/** Older days are no longer needed; a file is a few hundred kilobytes at most. */
const DAYS_KEPT = 40
const DAY_MS = 24 * 3_600_000

export interface LedgerSetup {
  readonly session: string
  readonly project: string
  readonly now: () => number
  readonly newId: () => string
}

export function openDayLedger(home: string, { session, project, now, newId }: LedgerSetup): DayLedger {
  const folder = join(home, FOLDER)
  const fileOf = (ms: number): string => join(folder, `${dayOf(ms)}.jsonl`)
  let reader = createDayReader('')
  let made: Promise<void> | undefined
  const today = (): DayReader => {
    const path = fileOf(now())
    if (reader.path !== path) {
      reader = createDayReader(path)
      made = undefined
    }
    return reader
  }
  const append = async ({ path }: DayReader, line: Json): Promise<void> => {
    try {
      await (made ??= makeFolder(folder, now()))
      await appendLine(path, `${JSON.stringify(line)}\n`)
    } catch (error) {
      made = undefined
      throw toStorageError(error, 'record the spending in', path)
    }
  }
  return {
    figures: () => sumOf(today().read()),
    elsewhere: createProjectBill({ session, project, today, fileOf, now }),
    add: async (usd, source) => {
      if (usd > 0) await append(today(), { id: newId(), session, project, source, usd })
    },
    hold: async ({ neededUsd, mostUsd, maxUsd, source }) => {
      const day = today()
      const id = newId()
      const by = toJson(await ownIdentity())
      await append(day, { id, session, project, source, held: mostUsd, prompt: neededUsd, by })
      const settle = async (usd: number): Promise<void> => append(day, { id, session, usd })
      await day.look()
      const accounts = day.read()
      const own = accounts.get(id)
      const before = sumOf(accounts, own?.order)
      const leftUsd = maxUsd - before.spentUsd - before.heldUsd
      // The answer is cut to what is left. If another request holds part of that, the answer might cost more than there is.
      if (mostUsd <= leftUsd || (neededUsd <= leftUsd && before.heldUsd === 0)) return { settle }
      await settle(0)
      return undefined
    },
  }
}

/** By local time: a day is the user's day. */
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

function toJson({ pid, host, startTicks, boot }: ProcessIdentity): Json {
  return { pid, host, ...(startTicks !== undefined && { startTicks }), ...(boot !== undefined && { boot }) }
}

/** Amounts set aside count only if their account came before `before`; later ones make way. */
function sumOf(accounts: ReadonlyMap<string, Account>, before = Infinity): DayFigures {
  let [spentUsd, heldUsd] = [0, 0]
  for (const account of accounts.values()) {
    if (account.spentUsd !== undefined) spentUsd += account.spentUsd
    else if (account.order < before) heldUsd += account.heldUsd
  }
  return { spentUsd, heldUsd }
}
