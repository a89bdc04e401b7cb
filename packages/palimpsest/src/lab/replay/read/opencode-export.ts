import { documentsRemark, findDocuments } from '../../../wire/json-documents.ts'
import { parseJsonObject, skipNested, type JsonObject } from '../../../wire/json.ts'
import type { Tally } from './tally.ts'

/** The exports of a file: one, several in sequence, or the complete messages of one that was cut short. */
export function exportsIn(text: string, tally: Tally): readonly JsonObject[] {
  const whole = parseJsonObject(text)
  if (whole) return [whole]
  const found = findDocuments(text)
  const documents = found.documents.map(({ value }) => value).filter((value) => 'messages' in value)
  if (documents.length > 0) {
    tally.note(0, `the file is no single export: ${documentsRemark(found) ?? ''}`)
    return documents
  }
  const { messages, rest } = wholeMessages(text)
  tally.reported(
    0,
    messages.length === 0
      ? 'the document is not whole JSON (torn, or not one export)'
      : `the export is cut short: ${messages.length === 1 ? '1 message was' : `${messages.length} messages were`} read, ${rest} characters after that could not be`,
  )
  return [{ ...infoOf(text), messages }]
}

const MESSAGES_START = /"messages"\s*:\s*\[/

function wholeMessages(text: string): { readonly messages: readonly JsonObject[]; readonly rest: number } {
  const start = MESSAGES_START.exec(text)
  const messages: JsonObject[] = []
  let at = start ? start.index + start[0].length : text.length
  for (;;) {
    const open = text.indexOf('{', at)
    if (open === -1 || !/^[\s,]*$/.test(text.slice(at, open))) break
    const end = skipNested(text, open)
    const message = parseJsonObject(text.slice(open, end))
    if (!message) break
    messages.push(message)
    at = end
  }
  return { messages, rest: text.length - at }
}

function infoOf(text: string): JsonObject {
  const start = /"info"\s*:\s*(?=\{)/.exec(text)
  if (!start) return {}
  const open = start.index + start[0].length
  const info = parseJsonObject(text.slice(open, skipNested(text, open)))
  return info ? { info } : {}
}
