import { isJsonObject, type JsonObject, type JsonText } from '../../wire/json.ts'
import type { BlobRef, BlockRef, EditCause, Entry } from '../entry.ts'
import { isUsage, type Usage } from '../../wire/usage.ts'
import { openLine, type EntryPlace, type Envelope } from './line-base.ts'
import { choiceField, FieldError, flagField, numberField, objectField, objectsField } from './line-fields.ts'
import { textField, textsField } from './line-fields.ts'

// The kinds that no other reader knows. JSON texts in them are written as strings, so they read back unchanged, including line ends.

type OwnKind = Exclude<Entry, { readonly kind: 'message' | 'boundary' | 'other' }>

const CAUSES = [
  'cold',
  'batch',
  'forced',
  'media',
  'server',
  'cache',
  'snip',
  'collapse',
  'restore',
  'again',
] as const satisfies readonly EditCause[]

export function encodeOwnKind(entry: OwnKind, envelope: Envelope): string {
  const start = { type: 'palimpsest', subtype: entry.kind }
  return `${openLine(entry, envelope, start, payloadOf(entry))}}`
}

/** Undefined for a subtype that this version does not know. */
export function decodeOwnKind(fields: JsonObject, place: EntryPlace): OwnKind | undefined {
  const { subtype } = fields
  const own = isJsonObject(fields['palimpsest']) ? fields['palimpsest'] : {}
  switch (subtype) {
    case 'prefix':
      return { kind: subtype, ...place, ...prefixOf(own) }
    case 'stored':
      return {
        kind: subtype,
        ...place,
        toolUseId: textField(own, 'toolUseId'),
        blob: blobOf(objectField(own, 'blob')),
        standIn: textField(own, 'standIn'),
      }
    case 'edit':
      return { kind: subtype, ...place, ...editOf(own) }
    case 'void':
      return { kind: subtype, ...place, target: textField(own, 'target') }
    case 'pin':
      return {
        kind: subtype,
        ...place,
        target: blockRefOf(objectField(own, 'target')),
        on: flagField(own, 'on'),
      }
    case 'notes':
      return { kind: subtype, ...place, upTo: textField(own, 'upTo'), text: textField(own, 'text') }
    case 'mail':
      return { kind: subtype, ...place, messageId: textField(own, 'messageId'), from: textField(own, 'from') }
    case 'spent':
      return {
        kind: subtype,
        ...place,
        source: textField(own, 'source'),
        model: textField(own, 'model'),
        usage: usageOf(own),
        ...(own['estimated'] === true && { estimated: true as const }),
      }
    case 'title': {
      const title = textField(own, 'title')
      return { kind: subtype, ...place, title, firstPrompt: textField(own, 'firstPrompt') }
    }
    default:
      return undefined
  }
}

/** Written out member by member: the order in the line is part of the format. */
function payloadOf(entry: OwnKind): object {
  switch (entry.kind) {
    case 'prefix': {
      const { model, betas, system, tools, parameters, reason } = entry
      return { model, betas, system, tools, parameters, reason }
    }
    case 'stored': {
      const { path, bytes } = entry.blob
      return { toolUseId: entry.toolUseId, blob: { path, bytes }, standIn: entry.standIn }
    }
    case 'edit': {
      const replace = entry.replace.map((item) => ({ at: refPayload(item.at), with: item.with }))
      return { cause: entry.cause, replace, drop: entry.drop, freedTokens: entry.freedTokens }
    }
    case 'void':
      return { target: entry.target }
    case 'pin':
      return { target: refPayload(entry.target), on: entry.on }
    case 'notes':
      return { upTo: entry.upTo, text: entry.text }
    case 'mail':
      return { messageId: entry.messageId, from: entry.from }
    case 'spent': {
      const { source, model, usage, estimated } = entry
      return { source, model, usage, estimated }
    }
    case 'title':
      return { title: entry.title, firstPrompt: entry.firstPrompt }
    default:
      return entry satisfies never
  }
}

function refPayload(ref: BlockRef): BlockRef {
  return { entry: ref.entry, index: ref.index }
}

function prefixOf(own: JsonObject) {
  const parameters = objectField(own, 'parameters')
  const names = Object.keys(parameters)
  return {
    model: textField(own, 'model'),
    betas: textsField(own, 'betas'),
    system: textField(own, 'system'),
    tools: textField(own, 'tools'),
    parameters: Object.fromEntries(
      names.map((name): [string, JsonText] => [name, textField(parameters, name)]),
    ),
    reason: textField(own, 'reason'),
  }
}

function editOf(own: JsonObject) {
  return {
    cause: choiceField(own, 'cause', CAUSES),
    replace: objectsField(own, 'replace').map((item) => ({
      at: blockRefOf(objectField(item, 'at')),
      with: textsField(item, 'with'),
    })),
    drop: textsField(own, 'drop'),
    freedTokens: numberField(own, 'freedTokens'),
  }
}

function usageOf(own: JsonObject): Usage {
  const usage = own['usage']
  if (!isUsage(usage)) throw new FieldError('"usage" is not a usage')
  return usage
}

function blobOf(blob: JsonObject): BlobRef {
  return { path: textField(blob, 'path'), bytes: numberField(blob, 'bytes') }
}

function blockRefOf(ref: JsonObject): BlockRef {
  return { entry: textField(ref, 'entry'), index: numberField(ref, 'index') }
}
