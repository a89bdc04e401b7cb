import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

import { StorageError } from 'palimpsest'
import { readPlainText, takeLock, type Lock } from 'palimpsest/node'
import { isJsonObject } from 'palimpsest/wire'

import { placeOwnFile } from '../../files/place-own-file.ts'
import { Refusal } from '../../refusal.ts'
import { systemCode } from '../../files/system-code.ts'
import { parseRule, type Rule } from '../rule.ts'
import { isNarrow } from './is-narrow.ts'

// Rules that the user gave with "always". They are in the project's folder below our home, which no tool writes unasked. A rule holds in
// the working folder it was given in, since its paths are relative to that folder; a command holds in the folder it ran in.

interface StoredRule {
  /** The working folder. */
  readonly folder: string
  readonly rule: string
  /** The folder of a command, if it is not the working folder. */
  readonly in?: string | undefined
}

export interface StoredRules {
  readonly rules: readonly Rule[]
  /** For the user: which rules do not hold, and what to do. */
  readonly notice?: string
}

/**
 * The rules that hold here. Rules of an earlier version that allow more than "always" gives today move to the file's retired list, and
 * the user gets one notice about them.
 */
export async function openStoredRules(projectHome: string, cwd: string): Promise<StoredRules> {
  const { file, problem } = await readRules(rulesPath(projectHome))
  if (problem !== undefined) return { rules: [], notice: problem }
  const here = file.allow
    .filter(({ folder }) => folder === cwd)
    .map((stored) => ({ stored, rule: toRule(stored) }))
  const broad = here.filter(({ rule }) => rule !== undefined && !isNarrow(rule)).map(({ stored }) => stored)
  const rules = here.flatMap(({ stored, rule }) => (rule && !broad.includes(stored) ? [rule] : []))
  if (broad.length === 0) return { rules }
  // If the file cannot be written, the notice comes again next time. The broad rules do not hold either way.
  await changeRules(projectHome, ({ allow, retired }) => ({
    allow: allow.filter((stored) => !broad.some((one) => isSame(one, stored))),
    retired: [...retired, ...broad.filter((stored) => !retired.some((known) => isSame(known, stored)))],
  })).catch(() => undefined)
  return { rules, notice: retiredNotice(broad) }
}

function retiredNotice(broad: readonly StoredRule[]): string {
  const texts = [...new Set(broad.map(({ rule }) => rule))].join(', ')
  return `what you allowed here with "always" (${texts}) is too broad and no longer applies: Palimpsest asks again, unless you add it to "permissions.allow" in your settings or pass it with --allowed-tools`
}

export async function storeRules(projectHome: string, cwd: string, rules: readonly Rule[]): Promise<void> {
  const wanted = rules.map((rule) => toStored(rule, cwd))
  await changeRules(projectHome, (file) => {
    const fresh = wanted.filter((stored) => !file.allow.some((known) => isSame(known, stored)))
    return fresh.length > 0 ? { ...file, allow: [...file.allow, ...fresh] } : undefined
  })
}

/** Deletes a rule that the user gave with "always" in this folder. */
export async function forgetRule(projectHome: string, cwd: string, { text }: Rule): Promise<void> {
  await changeRules(projectHome, (file) => ({
    ...file,
    allow: file.allow.filter(({ folder, rule }) => folder !== cwd || rule !== text),
  }))
}

/**
 * Reads, changes and writes in one step, so that sessions in parallel do not lose each other's rules. Does not overwrite a file that it
 * cannot read: the file may contain rules that the user wants to keep.
 */
async function changeRules(
  projectHome: string,
  change: (file: RulesFile) => RulesFile | undefined,
): Promise<void> {
  const path = rulesPath(projectHome)
  const lock = await waitForLock(projectHome, `${path}.lock`)
  try {
    const { file, problem } = await readRules(path)
    if (problem !== undefined) throw new Refusal(problem)
    const changed = change(file)
    if (changed !== undefined) await writeRules(path, changed)
  } finally {
    await lock.release()
  }
}

/** A change takes milliseconds, and on a busy machine many wait for their turn; after this long, the lock's owner is stuck. */
const LOCK_MS_MAX = 30_000
const LOCK_PAUSE_MS = 10

async function waitForLock(projectHome: string, path: string): Promise<Lock> {
  const end = performance.now() + LOCK_MS_MAX
  for (;;) {
    try {
      return await takeLock(projectHome, path)
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure !== 'locked') throw error
      if (performance.now() > end)
        throw new Refusal(
          `another session has not finished writing its rules. If no other session is running, delete ${path}`,
        )
    }
    await setTimeout(LOCK_PAUSE_MS)
  }
}

function toStored({ text, always }: Rule, cwd: string): StoredRule {
  const isElsewhere = always !== undefined && always.folder !== cwd
  return { folder: cwd, rule: text, in: isElsewhere ? always.folder : undefined }
}

function toRule(stored: StoredRule): Rule | undefined {
  const parsed = parseRule(stored.rule, 'allow')
  return parsed.ok ? { ...parsed.rule, always: { folder: stored.in ?? stored.folder } } : undefined
}

function isSame(one: StoredRule, other: StoredRule): boolean {
  return one.folder === other.folder && one.rule === other.rule && one.in === other.in
}

function rulesPath(projectHome: string): string {
  return join(projectHome, 'allowed.json')
}

interface RulesFile {
  readonly allow: readonly StoredRule[]
  /** Rules that no longer hold. */
  readonly retired: readonly StoredRule[]
}

interface ReadRules {
  readonly file: RulesFile
  readonly problem?: string
}

const NO_RULES: RulesFile = { allow: [], retired: [] }

async function writeRules(path: string, { allow, retired }: RulesFile): Promise<void> {
  const document = { allow, retired: retired.length > 0 ? retired : undefined }
  await placeOwnFile(path, Buffer.from(`${JSON.stringify(document, null, 2)}\n`))
}

/** An earlier version wrote the working folder like the root. */
const SAID_NOW = new Map([['Edit(/**)', 'Edit(./**)']])

/** A file that cannot be read allows nothing, and the user gets a message. */
async function readRules(path: string): Promise<ReadRules> {
  try {
    const value: unknown = JSON.parse(await readPlainText(path))
    const { allow, retired = [] } = isJsonObject(value) ? value : {}
    if (!Array.isArray(allow) || !Array.isArray(retired)) return unreadable(path, 'it has no list "allow"')
    const kept = allow
      .filter(isStoredRule)
      .map((stored) => ({ ...stored, rule: SAID_NOW.get(stored.rule) ?? stored.rule }))
    return { file: { allow: kept, retired: retired.filter(isStoredRule) } }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { file: NO_RULES }
    if (error instanceof SyntaxError || systemCode(error) !== undefined)
      return unreadable(path, error instanceof Error ? error.message : '')
    throw error
  }
}

function unreadable(path: string, why: string): ReadRules {
  const problem = `cannot read ${path} (${why}), so no "always" rule of this project applies. Fix or delete the file`
  return { file: NO_RULES, problem }
}

function isStoredRule(value: unknown): value is StoredRule {
  if (!isJsonObject(value)) return false
  const { folder, rule, in: place } = value
  return (
    typeof folder === 'string' && typeof rule === 'string' && ['string', 'undefined'].includes(typeof place)
  )
}
