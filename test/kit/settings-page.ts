import { isJsonObject, type JsonObject } from 'palimpsest/wire'

import type { Shape } from '../../packages/palimpsest-cli/src/agent/settings/shape.ts'

/** A shape, or a group of them. */
type Described = Pick<Shape<unknown, unknown>, 'schema' | 'fromProject'> & {
  readonly members?: { readonly [name: string]: Described }
}

export function schemaFileOf({ schema }: Described): string {
  const whole = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Palimpsest settings',
    ...schema,
  }
  return `${JSON.stringify(whole, null, 2)}\n`
}

/** One row for each setting, as docs/settings.md shows it. */
export function settingsTable(shape: Described): string {
  return [
    '| setting | values | what it does | may a project set it? |',
    '| --- | --- | --- | --- |',
    ...rowsOf(shape, ''),
  ].join('\n')
}

function rowsOf({ members = {} }: Described, before: string): readonly string[] {
  return Object.entries(members).flatMap(([key, shape]) => {
    const name = `${before}${key}`
    if (shape.members) return rowsOf(shape, `${name}.`)
    const { schema, fromProject = 'yes' } = shape
    return [`| \`${name}\` | ${valuesOf(schema)} | ${textOf(schema)} | ${fromProject} |`]
  })
}

function valuesOf({ type, enum: values, minimum, items, anyOf }: JsonObject): string {
  if (Array.isArray(anyOf))
    return anyOf.flatMap((one) => (isJsonObject(one) ? [valuesOf(one)] : [])).join(' or ')
  if (Array.isArray(values)) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  if (type === 'number') return `a number, ${JSON.stringify(minimum)} or more`
  if (type === 'boolean') return '`true`, `false`'
  if (type === 'array') return `a list of ${isJsonObject(items) ? valuesOf(items) : 'anything'}`
  return type === 'string' ? 'text' : type === 'object' ? 'an object' : 'anything'
}

function textOf({ description, anyOf }: JsonObject): string {
  if (typeof description === 'string') return description.replaceAll('|', '\\|')
  return Array.isArray(anyOf)
    ? anyOf.flatMap((one) => (isJsonObject(one) ? [textOf(one)] : [])).join('; or ')
    : ''
}
