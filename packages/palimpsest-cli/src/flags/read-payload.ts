import { findFlag } from 'palimpsest'
import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

import { JsonTextError, lineAt, parseJsonText } from '../agent/settings/json-text.ts'
import { problemOfFeature } from './problem-of-feature.ts'

// The payload of a GrowthBook SDK endpoint, from a file or a service. If the whole is wrong, nothing changes; if one feature is wrong, it
// stays as it was. So a slip next to a kill switch does not disable the switch.

export interface Payload {
  /** Only our own flags, each one valid. */
  readonly features: JsonObject
  readonly savedGroups: JsonObject
}

export interface ReadPayload {
  /** Absent if the whole cannot be used. */
  readonly payload?: Payload
  readonly problems: readonly PayloadProblem[]
  /** Features that are not flags of ours. */
  readonly unknown: readonly string[]
}

export interface PayloadProblem {
  readonly line?: number
  readonly message: string
}

/** More than any list of flags needs; a larger document is something else. */
export const PAYLOAD_BYTES_MAX = 1024 * 1024

export function readPayload(text: string, before: Payload | undefined): ReadPayload {
  const parsed = parseDocument(text)
  return 'problem' in parsed ? { problems: [parsed.problem], unknown: [] } : toPayload(parsed.value, before)
}

export function toPayload(document: unknown, before: Payload | undefined): ReadPayload {
  const problem = problemOfDocument(document)
  return problem === undefined
    ? pickFeatures(document, before)
    : { problems: [{ message: problem }], unknown: [] }
}

function parseDocument(text: string): { readonly value: unknown } | { readonly problem: PayloadProblem } {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    const value: unknown = JSON.parse(plain)
    return { value }
  } catch (error) {
    return { problem: placeOf(plain) ?? { message: `this is not valid JSON: ${String(error)}` } }
  }
}

/** Finding the line takes a second, slow parser: no one fixes a longer text by hand. */
const PLACED_CHARS_MAX = 64 * 1024

function placeOf(text: string): PayloadProblem | undefined {
  try {
    if (text.length <= PLACED_CHARS_MAX) parseJsonText(text)
    return undefined
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return { line: lineAt(text, error.at), message: `this is not valid JSON: ${error.message}` }
  }
}

function problemOfDocument(document: unknown): string | undefined {
  if (!isJsonObject(document)) return 'this is not a payload: it must be an object with "features"'
  if ('encryptedFeatures' in document && !('features' in document))
    return 'the payload is encrypted, which is not supported. Serve it without encryption'
  if (!isJsonObject(document['features']))
    return 'the payload must contain "features": {"name": {"defaultValue": …}}'
  return undefined
}

function pickFeatures(document: unknown, before: Payload | undefined): ReadPayload {
  const { features, savedGroups } = isJsonObject(document) ? document : {}
  const problems: PayloadProblem[] = []
  const unknown: string[] = []
  const kept: [string, Json][] = []
  for (const [key, feature] of Object.entries(isJsonObject(features) ? features : {})) {
    const flag = findFlag(key)
    const problem = flag && feature !== undefined ? problemOfFeature(flag, feature) : undefined
    if (problem !== undefined) problems.push({ message: `"${key}" ${problem}` })
    if (!flag) unknown.push(key)
    const good = problem === undefined ? feature : before?.features[key]
    if (flag && good !== undefined) kept.push([key, good])
  }
  const groups = Object.entries(isJsonObject(savedGroups) ? savedGroups : {})
  for (const [name, group] of groups)
    if (!isGroup(group)) problems.push({ message: `the saved group "${name}" is not a list` })
  const payload = {
    features: Object.fromEntries(kept),
    // An invalid group has neither members nor non-members: rules about it match no one.
    savedGroups: Object.fromEntries(groups.map(([name, group]) => [name, isGroup(group) ? group : {}])),
  }
  return { payload, problems, unknown }
}

function isGroup(group: Json | undefined): boolean {
  return Array.isArray(group) || (isJsonObject(group) && Array.isArray(group['values']))
}
