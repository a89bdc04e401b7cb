import { NO_CONTEXT, type RowContext } from '../../recall/index-rows.ts'
import { isJsonObject, parseJsonObject, type JsonObject } from '../../wire/json.ts'
import { textOf } from './index-database.ts'

// What later rows of a file need to know about earlier ones, from one slice to the next.

export interface FileState extends RowContext {
  /** For calls without a result yet: the first row of each. */
  readonly units: { readonly [useId: string]: number }
  /** The last turn of talk, whose following text is not known yet. */
  readonly open?: OpenTurn | undefined
}

export interface OpenTurn {
  readonly ids: readonly number[]
  readonly offset: number
  readonly length: number
  readonly block: number
  readonly said: readonly string[]
}

export const NO_STATE: FileState = { ...NO_CONTEXT, units: {} }

/** An invalid state counts as empty: later rows then know less about earlier ones. */
export function readFileState(text: string): FileState {
  const value = parseJsonObject(text)
  if (!value) return NO_STATE
  const calls = Object.entries(objectIn(value, 'calls')).flatMap(([id, call]) => {
    if (!isJsonObject(call)) return []
    return [[id, { tool: textOf(call['tool']), about: textOf(call['about']) }] as const]
  })
  const units = Object.entries(objectIn(value, 'units')).map(([id, unit]) => [id, Number(unit)] as const)
  return {
    calls: Object.fromEntries(calls),
    said: listIn(value, 'said').map(String),
    units: Object.fromEntries(units),
    open: openIn(value['open']),
  }
}

function openIn(value: unknown): OpenTurn | undefined {
  if (!isJsonObject(value)) return undefined
  const numbers = {
    offset: Number(value['offset']),
    length: Number(value['length']),
    block: Number(value['block']),
  }
  return { ...numbers, ids: listIn(value, 'ids').map(Number), said: listIn(value, 'said').map(String) }
}

function objectIn(value: JsonObject, name: string): JsonObject {
  const inner = value[name]
  return isJsonObject(inner) ? inner : {}
}

function listIn(value: JsonObject, name: string): readonly unknown[] {
  const inner = value[name]
  return Array.isArray(inner) ? inner : []
}
