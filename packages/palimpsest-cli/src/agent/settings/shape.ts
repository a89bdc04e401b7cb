import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

import { findSimilarName } from '../similar-name.ts'

import type { JsonNode } from './json-text.ts'

// A setting is described once, as data that both reads it and prints its schema.

export interface Complaint {
  readonly at: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}

export interface Shape<T> {
  readonly schema: JsonObject
  /** Undefined where the value is no good; then a complaint says why. */
  readonly read: (node: JsonNode, name: string, complain: (complaint: Complaint) => void) => T | undefined
}

export function text(
  description: string,
  problem: (value: string) => string | undefined = () => undefined,
): Shape<string> {
  return {
    schema: { type: 'string', description },
    read: (node, name, complain) => {
      const wrong = node.kind === 'string' ? problem(node.value) : 'must be a string'
      if (wrong === undefined && node.kind === 'string') return node.value
      complain({ at: node.at, severity: 'error', message: `"${name}" ${wrong ?? ''}` })
      return undefined
    },
  }
}

export function flag(description: string): Shape<boolean> {
  return {
    schema: { type: 'boolean', description },
    read: (node, name, complain) => {
      if (node.kind === 'boolean') return node.value
      complain({ at: node.at, severity: 'error', message: `"${name}" must be true or false` })
      return undefined
    },
  }
}

export function number(description: string, minimum: number): Shape<number> {
  return {
    schema: { type: 'number', minimum, description },
    read: (node, name, complain) => {
      if (node.kind === 'number' && node.value >= minimum && Number.isFinite(node.value)) return node.value
      complain({ at: node.at, severity: 'error', message: `"${name}" must be a number, ${minimum} or more` })
      return undefined
    },
  }
}

export function choice<const T extends string>(description: string, values: readonly T[]): Shape<T> {
  return {
    schema: { type: 'string', enum: values, description },
    read: (node, name, complain) => {
      const found = values.find((value) => node.kind === 'string' && node.value === value)
      if (found === undefined)
        complain({
          at: node.at,
          severity: 'error',
          message: `"${name}" must be one of ${values.map((value) => `"${value}"`).join(', ')}`,
        })
      return found
    },
  }
}

export function either<A, B>(first: Shape<A>, second: Shape<B>): Shape<A | B> {
  return {
    schema: { anyOf: [first.schema, second.schema] },
    read: (node, name, complain) => {
      const complaints: Complaint[] = []
      const note = (complaint: Complaint): void => void complaints.push(complaint)
      const found = first.read(node, name, note) ?? second.read(node, name, note)
      if (found === undefined) {
        const message = complaints.map((one) => one.message.replace(`"${name}" `, '')).join(', or ')
        complain({ at: node.at, severity: 'error', message: `"${name}" ${message}` })
      }
      return found
    },
  }
}

/** Items that are no good are left out, each with a complaint; the others stay. */
export function list<T>(description: string, item: Shape<T>): Shape<readonly T[]> {
  return {
    schema: { type: 'array', items: item.schema, description },
    read: (node, name, complain) => {
      if (node.kind === 'array') return node.items.flatMap((one) => item.read(one, name, complain) ?? [])
      complain({ at: node.at, severity: 'error', message: `"${name}" must be a list` })
      return undefined
    },
  }
}

/** Any names, values of one kind. */
export function record<T>(description: string, value: Shape<T>): Shape<{ readonly [name: string]: T }> {
  return {
    schema: { type: 'object', additionalProperties: value.schema, description },
    read: (node, name, complain) => {
      if (node.kind !== 'object') {
        complain({ at: node.at, severity: 'error', message: `"${name}" must be an object` })
        return undefined
      }
      const pairs = node.members.flatMap((member) => {
        const read = value.read(member.value, `${name}.${member.key}`, complain)
        return read === undefined ? [] : [[member.key, read] as const]
      })
      return Object.fromEntries(pairs)
    },
  }
}

/** Carried as it is; whoever uses it reads it. */
export function anything(description: string): Shape<Json> {
  return { schema: { description }, read: (node) => toJson(node) }
}

/** Promised and not there yet. Whoever sets it is told. */
export function planned(description: string): Shape<never> {
  return {
    schema: { description: `${description}. Not built yet: ignored` },
    read: (node, name, complain) => {
      complain({ at: node.at, severity: 'warning', message: `"${name}" is not built yet, and is ignored` })
      return undefined
    },
  }
}

type Members = { readonly [key: string]: Shape<unknown> }
type Read<M extends Members> = { readonly [K in keyof M]?: M[K] extends Shape<infer T> ? T : never }

/** Known names only: another one is a warning, for it may be a slip or a newer version's. */
export function object<M extends Members>(description: string, members: M): Shape<Read<M>> {
  const properties = Object.fromEntries(Object.entries(members).map(([key, { schema }]) => [key, schema]))
  return {
    schema: { type: 'object', description, properties, additionalProperties: false },
    read: (node, name, complain) => {
      if (node.kind !== 'object') {
        complain({
          at: node.at,
          severity: 'error',
          message: `${name === '' ? 'the file' : `"${name}"`} must hold an object`,
        })
        return undefined
      }
      const result: { [key: string]: unknown } = {}
      for (const { key, at, value } of node.members) {
        const shape = Object.hasOwn(members, key) ? members[key] : undefined
        const full = name === '' ? key : `${name}.${key}`
        if (shape === undefined)
          complain({
            at,
            severity: 'warning',
            message: `"${full}" is not a known setting, and is ignored${didYouMean(key, members)}`,
          })
        else if (Object.hasOwn(result, key))
          complain({ at, severity: 'error', message: `"${full}" stands there twice; the first one counts` })
        else {
          const read = shape.read(value, full, complain)
          if (read !== undefined) result[key] = read
        }
      }
      return toRead<M>(result)
    },
  }
}

/** What the shapes have read is what their types say: each value came from the shape of its own key. */
function toRead<M extends Members>(result: { readonly [key: string]: unknown }): Read<M> {
  const isRead = (value: unknown): value is Read<M> => value === result
  const value: unknown = result
  if (isRead(value)) return value
  throw new Error('unreachable: a value equals itself')
}

/** A name that is nearly one of these, or stands one floor below them: `allow` for `permissions.allow`. */
function didYouMean(key: string, members: Members): string {
  const deeper = Object.entries(members).flatMap(([name, { schema }]) =>
    namesIn(schema).map((inner) => [name, inner]),
  )
  const below = deeper.find(([, inner]) => inner === key)?.join('.')
  const similar = below ?? findSimilarName(key, Object.keys(members))
  return similar === undefined ? '' : `. Did you mean "${similar}"?`
}

function namesIn({ properties }: JsonObject): readonly string[] {
  return isJsonObject(properties) ? Object.keys(properties) : []
}

function toJson(node: JsonNode): Json {
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
