import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

import { findSimilarName } from '../similar-name.ts'

import type { JsonNode } from './json-text.ts'
import { SET, toJson, type Reading, type Shape } from './shape.ts'

// Shapes that contain others: lists, named values, groups of settings.

/** Lists grow. Invalid items are left out, each with a complaint; the others stay. */
export function list<T>(description: string, item: Shape<T>): Shape<readonly T[], readonly T[]> {
  return {
    schema: { type: 'array', items: item.schema, description },
    read: (node, name, reading) => {
      if (node.kind === 'array') return node.items.flatMap((one) => item.read(one, name, reading) ?? [])
      reading.complain({ at: node.at, severity: 'error', message: `"${name}" must be a list` })
      return undefined
    },
    none: [],
    add: (before, more) => [...before, ...more],
    outline: () => SET,
  }
}

type Named<T> = { readonly [name: string]: T }

/** Any names, with values of one kind. */
export function record<T>(description: string, value: Shape<T>): Shape<Named<T>, Named<T>> {
  return {
    schema: { type: 'object', additionalProperties: value.schema, description },
    read: (node, name, reading) => {
      if (node.kind !== 'object') {
        reading.complain({ at: node.at, severity: 'error', message: `"${name}" must be an object` })
        return undefined
      }
      const pairs = node.members.flatMap((member) => {
        const read = value.read(member.value, `${name}.${member.key}`, reading)
        return read === undefined ? [] : [[member.key, read] as const]
      })
      return Object.fromEntries(pairs)
    },
    none: {},
    add: (before, more) => addNamed(before, more, value),
    outline: () => SET,
  }
}

function addNamed<T>(before: Named<T>, more: Named<T>, value: Shape<T>): Named<T> {
  const all = new Map<string, T>(Object.entries(before))
  for (const [name, one] of Object.entries(more)) {
    const known = all.get(name)
    all.set(name, known === undefined ? one : (value.add(known, one) ?? one))
  }
  return Object.fromEntries(all)
}

/** One value or several, passed on unread: the code that uses them reads them. Values of later files come after. */
export function anything(description: string): Shape<readonly Json[], readonly Json[]> {
  return {
    schema: { description },
    read: (node) => (node.kind === 'array' ? node.items.map(toJson) : [toJson(node)]),
    none: [],
    add: (before, more) => [...before, ...more],
    outline: () => SET,
  }
}

type Members = { readonly [key: string]: Shape<unknown, unknown> }
type Read<M extends Members> = { readonly [K in keyof M]?: M[K] extends Shape<infer T, unknown> ? T : never }
type Kept<M extends Members> = { readonly [K in keyof M]: M[K]['none'] }

export interface Group<M extends Members> extends Shape<Read<M>, Kept<M>> {
  readonly members: M
}

/** Known names only. An unknown one is a warning, since it may be a typo or belong to a newer version. */
export function object<M extends Members>(description: string, members: M): Group<M> {
  const shapes = Object.entries(members)
  return {
    members,
    schema: {
      type: 'object',
      description,
      properties: Object.fromEntries(shapes.map(([key, { schema }]) => [key, schema])),
      additionalProperties: false,
    },
    read: (node, name, reading) => readMembers(node, name, members, reading),
    none: noneOf(members),
    add: (before, more) => {
      const added = shapes.flatMap(([key, shape]) =>
        more[key] === undefined ? [] : [[key, shape.add(before[key], more[key])] as const],
      )
      return { ...before, ...Object.fromEntries(added) }
    },
    outline: (node) => outlineMembers(node, members),
  }
}

function readMembers<M extends Members>(
  node: JsonNode,
  name: string,
  members: M,
  reading: Reading,
): Read<M> | undefined {
  const { complain } = reading
  if (node.kind !== 'object') {
    const what = name === '' ? 'the file' : `"${name}"`
    complain({ at: node.at, severity: 'error', message: `${what} must contain a JSON object` })
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
      complain({ at, severity: 'error', message: `"${full}" appears twice; the first one is used` })
    else {
      const read = shape.read(value, full, reading)
      if (read !== undefined) result[key] = read
    }
  }
  return toRead<M>(result)
}

/** Shows every name, known or not; of an unknown one, nothing else. */
function outlineMembers(node: JsonNode, members: Members): Json {
  if (node.kind !== 'object') return SET
  const outlines = node.members.map(({ key, value }) => {
    const shape = Object.hasOwn(members, key) ? members[key] : undefined
    return [key, shape?.outline(value) ?? SET] as const
  })
  return Object.fromEntries(outlines)
}

/** What the shapes read has the declared types: each value came from the shape of its own key. */
function toRead<M extends Members>(result: { readonly [key: string]: unknown }): Read<M> {
  const isRead = (value: unknown): value is Read<M> => value === result
  const value: unknown = result
  if (isRead(value)) return value
  throw new Error('unreachable: a value equals itself')
}

function noneOf<M extends Members>(members: M): Kept<M> {
  const none: unknown = Object.fromEntries(Object.entries(members).map(([key, shape]) => [key, shape.none]))
  const isKept = (value: unknown): value is Kept<M> => value === none
  if (isKept(none)) return none
  throw new Error('unreachable: a value equals itself')
}

/** A known name that is similar, or the same name one level below: `allow` for `permissions.allow`. */
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
