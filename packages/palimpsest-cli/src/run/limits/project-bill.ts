import { readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'

import { StorageError } from 'palimpsest'
import type { BesideSums } from 'palimpsest/engine'
import { isBeside } from 'palimpsest/transcript'

import { createDayReader, type Account, type DayReader } from './day-file.ts'

/** Days of a project's bill that count for the share of calls beside its conversations, including today. */
const BILL_DAYS = 30
const DAY_MS = 24 * 3_600_000
const NOTHING: BesideSums = { totalUsd: 0, besideUsd: 0 }

export interface ProjectBillSetup {
  /** Left out here: its own transcript has these costs, and more that this file may have missed. */
  readonly session: string
  readonly project: string
  readonly today: () => DayReader
  readonly fileOf: (ms: number) => string
  readonly now: () => number
}

/**
 * What the other sessions of a project cost in the last 30 days. Past days are read once, in the background. Until that is done the result
 * is undefined, and the session is judged alone.
 */
export function createProjectBill(setup: ProjectBillSetup): () => BesideSums | undefined {
  const { today, fileOf, now } = setup
  const past = new Map<string, BesideSums>()
  let reading: Promise<void> | undefined
  let isRead = false
  const pastFiles = (): readonly string[] =>
    Array.from({ length: BILL_DAYS - 1 }, (_, days) => fileOf(now() - (days + 1) * DAY_MS))
  const readPast = async (): Promise<void> => {
    const paths = pastFiles()
    const there = await namesIn(dirname(fileOf(now())))
    for (const path of paths) {
      if (!there.has(basename(path))) {
        past.set(path, NOTHING)
        continue
      }
      past.set(path, sumsIn(createDayReader(path), setup))
      await setImmediate()
    }
    isRead = true
  }
  return () => {
    reading ??= readPast()
    if (!isRead) return undefined
    const days = pastFiles().map((path) => {
      const sums = past.get(path) ?? sumsIn(createDayReader(path), setup)
      past.set(path, sums)
      return sums
    })
    return [...days, sumsIn(today(), setup)].reduce(plus)
  }
}

/** A home is not used on most days: one look at the folder covers them all. */
async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  return new Set(await readdir(folder).catch(() => []))
}

/** A file that cannot be read counts as nothing spent: the total is smaller, so calls beside conversations may cost less. */
function sumsIn(reader: DayReader, setup: ProjectBillSetup): BesideSums {
  try {
    return [...reader.read().values()].map((account) => sumsOf(account, setup)).reduce(plus, NOTHING)
  } catch (error) {
    if (error instanceof StorageError) return NOTHING
    throw error
  }
}

function sumsOf(
  { session, project, source = 'main', spentUsd, promptUsd }: Account,
  own: Pick<ProjectBillSetup, 'session' | 'project'>,
): BesideSums {
  if (project !== own.project || session === own.session) return NOTHING
  const totalUsd = spentUsd ?? promptUsd
  return { totalUsd, besideUsd: isBeside(source) ? totalUsd : 0 }
}

function plus(one: BesideSums, other: BesideSums): BesideSums {
  return { totalUsd: one.totalUsd + other.totalUsd, besideUsd: one.besideUsd + other.besideUsd }
}
