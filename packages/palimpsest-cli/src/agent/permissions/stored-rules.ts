import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Refusal, systemCode } from '../refusal.ts'
import { placeFile } from '../files/place-file.ts'
import { parseRule, type Rule } from './rule.ts'

// Rules that the user allowed for good when asked: in the project's folder below our home, which no tool writes unasked. A rule holds
// in the working folder it was given in, since its paths are meant from there.

interface StoredRule {
  readonly folder: string
  readonly rule: string
}

const FILE_MODE = 0o600

export interface StoredRules {
  readonly rules: readonly Rule[]
  /** For the user: why what is stored does not hold, and what to do. */
  readonly problem?: string
}

export async function loadStoredRules(projectHome: string, cwd: string): Promise<StoredRules> {
  const { stored, problem } = await readRules(rulesPath(projectHome))
  const rules = stored.flatMap(({ folder, rule }) => {
    const parsed = parseRule(rule, 'allow')
    return folder === cwd && parsed.ok ? [parsed.rule] : []
  })
  return problem === undefined ? { rules } : { rules, problem }
}

/** A file that cannot be read is not written over: it may hold what the user wants to keep. */
export async function storeRule(projectHome: string, cwd: string, rule: string): Promise<void> {
  const path = rulesPath(projectHome)
  const { stored, problem } = await readRules(path)
  if (problem !== undefined) throw new Refusal(problem)
  if (stored.some((known) => known.folder === cwd && known.rule === rule)) return
  const text = `${JSON.stringify({ allow: [...stored, { folder: cwd, rule }] }, null, 2)}\n`
  const replaces = (await isThere(path)) ? 'file' : 'absent'
  await placeFile({ path, bytes: Buffer.from(text), replaces, mode: FILE_MODE })
}

function rulesPath(projectHome: string): string {
  return join(projectHome, 'allowed.json')
}

interface ReadRules {
  readonly stored: readonly StoredRule[]
  readonly problem?: string
}

/** What cannot be read allows nothing, and is told. */
async function readRules(path: string): Promise<ReadRules> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    const allow = typeof value === 'object' && value !== null && 'allow' in value ? value.allow : undefined
    if (Array.isArray(allow)) return { stored: allow.filter(isStoredRule) }
    return unreadable(path, 'it holds no list "allow"')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { stored: [] }
    if (error instanceof SyntaxError || systemCode(error) !== undefined)
      return unreadable(path, error instanceof Error ? error.message : '')
    throw error
  }
}

function unreadable(path: string, why: string): ReadRules {
  const problem = `${path} cannot be read (${why}): no "always" of this project holds. Mend or delete it`
  return { stored: [], problem }
}

async function isThere(path: string): Promise<boolean> {
  return await readFile(path).then(
    () => true,
    () => false,
  )
}

function isStoredRule(value: unknown): value is StoredRule {
  if (typeof value !== 'object' || value === null) return false
  return (
    'folder' in value && typeof value.folder === 'string' && 'rule' in value && typeof value.rule === 'string'
  )
}
