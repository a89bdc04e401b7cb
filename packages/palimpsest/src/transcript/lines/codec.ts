import { hashText } from '../../wire/hash.ts'
import { isJsonObject, type JsonObject, type JsonText } from '../../wire/json.ts'
import { decodeBoundary, encodeBoundary } from './codec-boundary.ts'
import { decodeMessage, encodeMessage } from './codec-message.ts'
import { decodeOwnKind, encodeOwnKind } from './codec-own-kinds.ts'
import type { Entry, OtherEntry } from '../entry.ts'
import { placeOf, type Envelope } from './line-base.ts'
import { FieldError } from './line-fields.ts'

// One entry, one line. Messages and boundaries have the shape that readers of such transcripts know; what only we know is in one
// `palimpsest` member. Our other kinds are lines of type `palimpsest`, with the kind as subtype. The order of members is in
// `line-base.ts`. An entry's texts (`json`, `system`, …) read back byte for byte.
//
// Two distinctions are lost: `sidechain: false` reads back as absent, and an invalid time as NaN.

/** A line that is no entry: not JSON, or one of ours with an invalid member. */
export interface DecodeProblem {
  readonly kind: 'problem'
  readonly reason: string
}

/** How the ids of lines without an id of their own begin. Such a line is in no chain. */
const LOOSE_ID_START = 'line:'

/** Returns one line, without its line end. */
export function encodeEntry(entry: Entry, envelope: Envelope): string {
  switch (entry.kind) {
    case 'message':
      return encodeMessage(entry, envelope)
    case 'boundary':
      return encodeBoundary(entry, envelope)
    case 'other':
      return entry.line
    case 'prefix':
    case 'stored':
    case 'edit':
    case 'void':
    case 'pin':
    case 'notes':
    case 'mail':
    case 'spent':
    case 'title':
      return encodeOwnKind(entry, envelope)
    default:
      return entry satisfies never
  }
}

/** Accepts our lines and those of other agents that write this shape. A type that has no meaning here becomes `other`. */
export function decodeLine(line: JsonText): Entry | DecodeProblem {
  const fields = parseLine(line)
  if (!isJsonObject(fields)) return { kind: 'problem', reason: fields }
  try {
    return decodeFields(line, fields)
  } catch (error) {
    if (error instanceof FieldError) return { kind: 'problem', reason: error.message }
    throw error
  }
}

/** True for an entry outside all chains: its line had no id. */
export function isLoose(entry: { readonly id: string }): boolean {
  return entry.id.startsWith(LOOSE_ID_START)
}

function decodeFields(line: JsonText, fields: JsonObject): Entry {
  const place = placeOf(fields)
  if (!place) return toOther(line, fields)
  const { type, subtype } = fields
  const entry =
    type === 'palimpsest'
      ? decodeOwnKind(fields, place)
      : type === 'system' && subtype === 'compact_boundary'
        ? decodeBoundary(fields, place)
        : type === 'user' || type === 'assistant' || (type === 'system' && subtype === 'message')
          ? decodeMessage(line, fields, place)
          : undefined
  return entry ?? toOther(line, fields)
}

function toOther(line: JsonText, fields: JsonObject): OtherEntry {
  const type = typeof fields['type'] === 'string' ? fields['type'] : ''
  const place = placeOf(fields) ?? { id: LOOSE_ID_START + hashText(line), parent: null, at: Number.NaN }
  return { kind: 'other', ...place, type, line }
}

function parseLine(line: JsonText): JsonObject | string {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? value : 'the line is not a JSON object'
  } catch {
    return line.includes('\0') ? 'the line has NUL bytes' : 'the line is not JSON'
  }
}
