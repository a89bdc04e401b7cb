import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { systemCode } from '../refusal.ts'
import { placeFile } from '../files/place-file.ts'
import { parseRule, type Rule } from './rule.ts'

// Rules that the user allowed for good when asked: in the project's folder below our home, which no tool writes unasked. A rule holds
// in the working folder it was given in, since its paths are meant from there.

interface StoredRule {
  readonly folder: string
  readonly rule: string
}

const FILE_MODE = 0o600

export async function loadStoredRules(projectHome: string, cwd: string): Promise<readonly Rule[]> {
  return (await readRules(rulesPath(projectHome))).flatMap(({ folder, rule }) => {
    const parsed = parseRule(rule, 'allow')
    return folder === cwd && parsed.ok ? [parsed.rule] : []
  })
}

export async function storeRule(projectHome: string, cwd: string, rule: string): Promise<void> {
  const path = rulesPath(projectHome)
  const before = await readRules(path)
  if (before.some((known) => known.folder === cwd && known.rule === rule)) return
  const text = `${JSON.stringify({ allow: [...before, { folder: cwd, rule }] }, null, 2)}\n`
  const replaces = (await isThere(path)) ? 'file' : 'absent'
  await placeFile({ path, bytes: Buffer.from(text), replaces, mode: FILE_MODE })
}

function rulesPath(projectHome: string): string {
  return join(projectHome, 'allowed.json')
}

/** What cannot be read allows nothing. */
async function readRules(path: string): Promise<readonly StoredRule[]> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof value !== 'object' || value === null || !('allow' in value)) return []
    const { allow } = value
    return Array.isArray(allow) ? allow.filter(isStoredRule) : []
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error) !== undefined) return []
    throw error
  }
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
