import { join } from 'node:path'

import { applyEdits, modify, parse, type JSONPath } from 'jsonc-parser'
import { readPlainText } from 'palimpsest/node'
import { isJsonObject } from 'palimpsest/wire'

import { placeOwnFile } from '../files/place-own-file.ts'
import type { Rule } from '../permissions/rule.ts'
import { Refusal } from '../refusal.ts'
import { systemCode } from '../files/system-code.ts'
import { JsonTextError, parseJsonText } from './json-text.ts'

// What the user decides on the screen goes into their own settings. The rest of the file stays as written.

const FORMATTING = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' } }

export async function addOwnRule(home: string, { effect, text }: Rule): Promise<void> {
  await changeSettings(home, (before) => {
    const known = rulesAt(before, effect)
    if (known.includes(text)) return before
    return edited(before, ['permissions', effect], [...known, text])
  })
}

/** The model that is used by default. */
export async function setOwnModel(home: string, model: string): Promise<void> {
  await changeSettings(home, (before) => edited(before, ['model'], model))
}

/** What all sessions of a day may cost together. Undefined removes the limit. */
export async function setOwnDailyLimit(home: string, usd: number | undefined): Promise<void> {
  await changeSettings(home, (before) => edited(before, ['limits', 'dailyCostUsd'], usd))
}

/** True if the rule was there. */
export async function removeOwnRule(home: string, { effect, text }: Rule): Promise<boolean> {
  return await changeSettings(home, (before) => {
    const known = rulesAt(before, effect)
    const left = known.filter((one) => one !== text)
    return left.length === known.length ? before : edited(before, ['permissions', effect], left)
  })
}

async function changeSettings(home: string, change: (text: string) => string): Promise<boolean> {
  const path = join(home, 'settings.json')
  const before = await readPlainText(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return ''
    throw error
  })
  const text = before.trim() === '' ? '{}\n' : before
  requireObject(text, path)
  const after = change(text)
  if (after === text) return false
  await placeOwnFile(path, Buffer.from(after))
  return true
}

/** Refuses to overwrite a file that cannot be read. */
function requireObject(text: string, path: string): void {
  try {
    if (parseJsonText(text).kind === 'object') return
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
  }
  throw new Refusal(`${path} is not a JSON object. Fix it first; nothing was changed`)
}

function rulesAt(text: string, effect: Rule['effect']): readonly unknown[] {
  const value: unknown = parse(text)
  const permissions = isJsonObject(value) ? value['permissions'] : undefined
  const rules = isJsonObject(permissions) ? permissions[effect] : undefined
  return Array.isArray(rules) ? rules : []
}

function edited(text: string, path: JSONPath, value: unknown): string {
  return applyEdits(text, modify(text, path, value, FORMATTING))
}
