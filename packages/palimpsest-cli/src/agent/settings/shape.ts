import type { Json, JsonObject } from 'palimpsest/wire'

import type { JsonNode } from './json-text.ts'

// A setting is described once, as data: it reads the value, prints its schema, says what a later file adds to an earlier one, and what a
// report may show of it.

export interface Complaint {
  readonly at: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** Where a file belongs: the user's own, a project's, or the one given with --settings. */
export type SettingsSource = 'user' | 'project' | 'flag'

export interface Reading {
  readonly source: SettingsSource
  /** Relative paths start here. */
  readonly base: string
  readonly complain: (complaint: Complaint) => void
}

/** `T` is what one file sets, `Kept` what applies once all files are read. */
export interface Shape<T, Kept = T | undefined> {
  readonly schema: JsonObject
  /** Undefined if the value is invalid; then a complaint says why. */
  readonly read: (node: JsonNode, name: string, reading: Reading) => T | undefined
  /** What applies if no file sets it. */
  readonly none: Kept
  /** What applies once one more file is read. */
  add(before: Kept, more: T): Kept
  /** The value as written, reduced to what says nothing about the user. */
  readonly outline: (node: JsonNode) => Json
  /** What a project may set of it. Absent: everything. */
  readonly fromProject?: string
}

/** In an outline, stands for a value that may say something about the user. */
export const SET = '(set)'

/** A later file wins. Numbers, switches and names from a list say nothing about the user, so they are shown. */
export function single<T>(schema: JsonObject, read: Shape<T>['read']): Shape<T> {
  return {
    schema,
    read,
    none: undefined,
    add: (_before, more) => more,
    outline: (node) => (isReadable(read, node) ? toJson(node) : SET),
  }
}

function isReadable(read: Shape<unknown>['read'], node: JsonNode): boolean {
  return read(node, '', { source: 'user', base: '', complain: () => undefined }) !== undefined
}

/** Text that people write themselves is not shown. */
export function text(
  description: string,
  problem: (value: string) => string | undefined = () => undefined,
): Shape<string> {
  const shape = single({ type: 'string', description }, (node, name, { complain }) => {
    const wrong = node.kind === 'string' ? problem(node.value) : 'must be a string'
    if (wrong === undefined && node.kind === 'string') return node.value
    complain({ at: node.at, severity: 'error', message: `"${name}" ${wrong ?? ''}` })
    return undefined
  })
  return { ...shape, outline: () => SET }
}

/** A text that says nothing about the user. */
export function shown(shape: Shape<string>): Shape<string> {
  return { ...shape, outline: single({}, shape.read).outline }
}

export function flag(description: string): Shape<boolean> {
  return single({ type: 'boolean', description }, (node, name, { complain }) => {
    if (node.kind === 'boolean') return node.value
    complain({ at: node.at, severity: 'error', message: `"${name}" must be true or false` })
    return undefined
  })
}

export function number(description: string, minimum: number): Shape<number> {
  return single({ type: 'number', minimum, description }, (node, name, { complain }) => {
    if (node.kind === 'number' && node.value >= minimum && Number.isFinite(node.value)) return node.value
    complain({ at: node.at, severity: 'error', message: `"${name}" must be a number, ${minimum} or more` })
    return undefined
  })
}

export function choice<const T extends string>(description: string, values: readonly T[]): Shape<T> {
  return single({ type: 'string', enum: values, description }, (node, name, { complain }) => {
    const found = values.find((value) => node.kind === 'string' && node.value === value)
    if (found === undefined)
      complain({
        at: node.at,
        severity: 'error',
        message: `"${name}" must be one of ${values.map((value) => `"${value}"`).join(', ')}`,
      })
    return found
  })
}

export function either<A, B>(first: Shape<A>, second: Shape<B>): Shape<A | B> {
  return single({ anyOf: [first.schema, second.schema] }, (node, name, reading) => {
    const complaints: Complaint[] = []
    const noting = { ...reading, complain: (complaint: Complaint) => void complaints.push(complaint) }
    const found = first.read(node, name, noting) ?? second.read(node, name, noting)
    if (found === undefined) {
      const message = complaints.map((one) => one.message.replace(`"${name}" `, '')).join(', or ')
      reading.complain({ at: node.at, severity: 'error', message: `"${name}" ${message}` })
    }
    return found
  })
}

/** A setting with a default. Only for what settings alone decide. */
export function byDefault<T extends string | number | boolean>(shape: Shape<T>, value: T): Shape<T, T> {
  const { description } = shape.schema
  const said = typeof description === 'string' ? `${description}. ` : ''
  const schema = { ...shape.schema, description: `${said}Default: ${value}` }
  return { ...shape, schema, none: value, add: (_before, more) => more }
}

/** The value in the form that its callers use. */
export function mapped<A, B>(shape: Shape<A>, to: (value: A, reading: Reading) => B): Shape<B> {
  const read: Shape<B>['read'] = (node, name, reading) => {
    const value = shape.read(node, name, reading)
    return value === undefined ? undefined : to(value, reading)
  }
  return { ...single(shape.schema, read), outline: shape.outline }
}

/** Limits what a project may set to values that `isAllowed` accepts. Other values are skipped, with a warning. */
export function boundForProjects<T, Kept>(
  shape: Shape<T, Kept>,
  bound: { readonly isAllowed: (value: T) => boolean; readonly allowed: string; readonly told: string },
): Shape<T, Kept> {
  return {
    ...shape,
    fromProject: bound.allowed,
    read: (node, name, reading) => {
      const value = shape.read(node, name, reading)
      if (value === undefined || reading.source !== 'project' || bound.isAllowed(value)) return value
      reading.complain({ at: node.at, severity: 'warning', message: `"${name}" ${bound.told}` })
      return undefined
    },
  }
}

/** A setting that is announced but not built yet. Setting it gives a warning. */
export function planned(description: string): Shape<never> {
  const schema = { description: `${description}. Not built yet: ignored` }
  return single<never>(schema, (node, name, { complain }) => {
    complain({ at: node.at, severity: 'warning', message: `"${name}" is not built yet, and is ignored` })
    return undefined
  })
}

export function toJson(node: JsonNode): Json {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, toJson(value)]))
    case 'array':
      return node.items.map(toJson)
    case 'null':
      return null
    case 'string':
    case 'number':
    case 'boolean':
      return node.value
    default:
      node satisfies never
      return null
  }
}
