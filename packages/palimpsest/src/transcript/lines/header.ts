import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import { FieldError, numberField, objectField, textField, timeField } from './line-fields.ts'

// The first line of a file says what the file is. It is padded with spaces: a fork's header has one member more but must have as many bytes
// as its parent's, so that offsets in the copied lines stay valid.

/** Raised if an older program would misread the file; that program then refuses it. */
export const FORMAT = 1

/** How every header begins. */
export const HEADER_START = '{"type":"palimpsest","subtype":"header"'

export interface Header {
  readonly format: number
  readonly sessionId: string
  /** The real path of the project. */
  readonly project: string
  /** Milliseconds since 1970. */
  readonly created: number
  readonly version: string
  readonly forkedFrom?: { readonly sessionId: string }
}

/** Room for `forkedFrom` with the longest id. */
const SPARE_CHARS = 192
const STEP_CHARS = 256

/** Returns one line, without its line end, padded to `lengthMin` unless the text is longer. Lengths are UTF-8 bytes. */
export function encodeHeader(header: Header, lengthMin?: number): string {
  const { format, sessionId, project, created, version, forkedFrom } = header
  const text = JSON.stringify({
    type: 'palimpsest',
    subtype: 'header',
    format,
    sessionId,
    project,
    created: new Date(created).toISOString(),
    version,
    forkedFrom: forkedFrom && { sessionId: forkedFrom.sessionId },
  })
  const length = new TextEncoder().encode(text).length
  const wished = lengthMin ?? Math.ceil((length + SPARE_CHARS) / STEP_CHARS) * STEP_CHARS
  return text + ' '.repeat(Math.max(0, wished - length))
}

export type HeaderRead =
  | { readonly kind: 'header'; readonly header: Header }
  | { readonly kind: 'newer'; readonly format: number }
  | { readonly kind: 'none' }

/** A header of a newer format is recognized by its first members alone: the rest may have changed. */
export function decodeHeader(line: string): HeaderRead {
  try {
    const fields: unknown = JSON.parse(line)
    if (!isJsonObject(fields)) return { kind: 'none' }
    if (fields['type'] !== 'palimpsest' || fields['subtype'] !== 'header') return { kind: 'none' }
    const format = numberField(fields, 'format')
    if (format > FORMAT) return { kind: 'newer', format }
    return { kind: 'header', header: headerOf(fields, format) }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FieldError) return { kind: 'none' }
    throw error
  }
}

function headerOf(fields: JsonObject, format: number): Header {
  const forkedFrom = fields['forkedFrom'] === undefined ? undefined : objectField(fields, 'forkedFrom')
  return {
    format,
    sessionId: textField(fields, 'sessionId'),
    project: textField(fields, 'project'),
    created: timeField(fields, 'created'),
    version: textField(fields, 'version'),
    ...(forkedFrom && { forkedFrom: { sessionId: textField(forkedFrom, 'sessionId') } }),
  }
}
