import { findMember, isJsonObject, splitObject, type JsonObject, type JsonText } from '../../wire/json.ts'
import type { WireMessage } from '../../wire/message.ts'
import { parseMessage } from '../../wire/parse.ts'
import { isUsage, type Usage } from '../../wire/usage.ts'
import { ORIGINS, type MessageEntry, type SeenFile } from '../entry.ts'
import { foreignOrigin } from './foreign-origin.ts'
import { openLine, type EntryPlace, type Envelope } from './line-base.ts'
import { choiceField, FieldError, numberField, objectsField, textField } from './line-fields.ts'

const PARTS = ['summary', 'attachment', 'kept', 'interrupted'] as const

/** Messages that a client made up to show an error; no model wrote them, and none received them. */
const SYNTHETIC_MODEL = '<synthetic>'

/** Facts about an answer that its own text usually contains. The line has null for a fact that the text contains and the entry lacks. */
interface AnswerFacts {
  readonly responseId?: string
  readonly model?: string
  readonly usage?: Usage
}

export function encodeMessage(entry: MessageEntry, envelope: Envelope): string {
  const oneLine = toOneLine(entry.json)
  const told = factsIn(entry.json)
  const own = {
    totals: envelope.totals,
    origin: entry.origin,
    part: entry.part,
    interrupted: entry.interrupted,
    copyOf: entry.copyOf,
    under: entry.under,
    standsFor: entry.standsFor,
    sentEstimate: entry.sentEstimate,
    files: entry.files?.map(({ path, hash, how, before }) => ({ path, hash, how, before })),
    responseId: unlessTold(entry.responseId, told.responseId),
    model: unlessTold(entry.model, told.model),
    usage: unlessTold(entry.usage, told.usage),
    json: oneLine === entry.json ? undefined : entry.json,
  }
  const start = openLine(entry, envelope, lineStart(entry), own)
  return `${start},"message":${oneLine}}`
}

/** Undefined if the line has no message that a model wrote or received. */
export function decodeMessage(
  line: JsonText,
  fields: JsonObject,
  place: EntryPlace,
): MessageEntry | undefined {
  const own = isJsonObject(fields['palimpsest']) ? fields['palimpsest'] : undefined
  const exact = own && typeof own['json'] === 'string' ? own['json'] : undefined
  const body = exact === undefined ? fields['message'] : parseExact(exact)
  const parsed = parseMessage(body)
  if (!parsed.ok || !isJsonObject(body)) return undefined
  const message = parsed.value
  const json = exact ?? findMember(line, 'message') ?? ''
  const told = factsFrom(body['id'], body['model'], body['usage'])
  if (!own) {
    if (told.model === SYNTHETIC_MODEL || fields['isApiErrorMessage'] === true) return undefined
    return { kind: 'message', ...place, ...foreignFacts(fields, message), message, json, ...told }
  }
  return {
    kind: 'message',
    ...place,
    origin: choiceField(own, 'origin', ORIGINS),
    message,
    json,
    ...(own['part'] !== undefined && { part: choiceField(own, 'part', PARTS) }),
    ...(own['interrupted'] === true && { interrupted: true as const }),
    ...(own['copyOf'] !== undefined && { copyOf: textField(own, 'copyOf') }),
    ...ownFacts(own, told),
    ...(typeof fields['requestId'] === 'string' && { requestId: fields['requestId'] }),
    ...(own['under'] !== undefined && { under: textField(own, 'under') }),
    ...(own['standsFor'] !== undefined && { standsFor: textField(own, 'standsFor') }),
    ...(own['sentEstimate'] !== undefined && { sentEstimate: numberField(own, 'sentEstimate') }),
    ...(own['files'] !== undefined && { files: objectsField(own, 'files').map(fileOf) }),
  }
}

const HOW = ['read', 'written', 'edited'] as const

function fileOf(file: JsonObject): SeenFile {
  return {
    path: textField(file, 'path'),
    hash: textField(file, 'hash'),
    how: choiceField(file, 'how', HOW),
    ...(file['before'] !== undefined && { before: textField(file, 'before') }),
  }
}

function lineStart(entry: MessageEntry) {
  const role = entry.message.role
  return {
    type: role,
    ...(role === 'system' && { subtype: 'message' }),
    ...(entry.requestId !== undefined && { requestId: entry.requestId }),
    ...(entry.part === 'summary' && { isCompactSummary: true as const }),
  }
}

/** Line ends in JSON are only white space between tokens. Lone surrogates have no UTF-8. Both are rare; `json` then has the exact text. */
function toOneLine(json: JsonText): JsonText {
  return /[\n\r]/.test(json) || !json.isWellFormed() ? json.replaceAll(/[\n\r]/g, ' ').toWellFormed() : json
}

function parseExact(json: JsonText): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new FieldError('"json" is not JSON')
  }
}

function factsIn(json: JsonText): AnswerFacts {
  const members = new Map(splitObject(json).map((member) => [member.key, member.value]))
  const parse = (key: string): unknown => JSON.parse(members.get(key) ?? 'null')
  return factsFrom(parse('id'), parse('model'), parse('usage'))
}

function factsFrom(id: unknown, model: unknown, usage: unknown): AnswerFacts {
  return {
    ...(typeof id === 'string' && { responseId: id }),
    ...(typeof model === 'string' && { model }),
    ...(isUsage(usage) && { usage }),
  }
}

/** The value to write for a fact: none if the text contains the same one. */
function unlessTold<T>(fact: T | undefined, told: T | undefined): T | null | undefined {
  if (fact === undefined) return told === undefined ? undefined : null
  return JSON.stringify(fact) === JSON.stringify(told) ? undefined : fact
}

function ownFacts(own: JsonObject, told: AnswerFacts): AnswerFacts {
  const { responseId = told.responseId, model = told.model, usage = told.usage } = own
  return factsFrom(responseId, model, usage)
}

function foreignFacts(fields: JsonObject, message: WireMessage) {
  const summary = fields['isCompactSummary'] === true
  return {
    origin: foreignOrigin(fields, message),
    ...(summary && { part: 'summary' as const }),
    ...(typeof fields['requestId'] === 'string' && { requestId: fields['requestId'] }),
  }
}
