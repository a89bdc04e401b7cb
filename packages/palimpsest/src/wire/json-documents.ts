import { parseJsonObject, skipNested, type JsonObject, type JsonText } from './json.ts'

// Lines of files that programs append to. If a writer was killed, or two wrote at the same time, one line may contain two documents, or the
// torn beginning of one and another that is complete.

export interface FoundDocument {
  readonly value: JsonObject
  /** Where its text begins and ends in the line. */
  readonly start: number
  readonly end: number
}

export interface FoundDocuments {
  readonly documents: readonly FoundDocument[]
  /** Characters that belong to no document: torn beginnings, zeros, stray commas. */
  readonly skipped: number
}

/** Skipping a torn beginning reads parts of the line again; after this many times the line's length it gives up. */
const SCANS_MAX = 8

/** The JSON objects of a line, in order. A text that is one object is one document. */
export function findDocuments(line: JsonText): FoundDocuments {
  const documents: FoundDocument[] = []
  let budget = line.length * SCANS_MAX
  let skipped = 0
  let at = skipGap(line, 0)
  let isTorn = false
  while (at < line.length && budget > 0) {
    const end = line.charAt(at) === '{' ? skipNested(line, at) : at
    budget -= end - at
    const value = end > at ? parseJsonObject(line.slice(at, end)) : undefined
    if (value && (!isTorn || (isRecord(value) && isBorder(line, end)))) {
      documents.push({ value, start: at, end })
      isTorn = false
      at = skipGap(line, end)
      continue
    }
    isTorn = true
    // Inside a string every quote is escaped, so this cannot be text of a message.
    const next = line.indexOf('{"', at + 1)
    const stop = next === -1 ? line.length : next
    skipped += stop - at
    at = stop
  }
  return { documents, skipped: skipped + Math.max(0, line.length - at) }
}

/** For the user: what was found on such a line, and that nothing was lost. Undefined for a normal line. */
export function documentsRemark({ documents, skipped }: FoundDocuments): string | undefined {
  const count = documents.length
  if (count === 0 || (count === 1 && skipped === 0)) return undefined
  const several = count === 2 ? 'both' : `all ${count}`
  const read =
    count === 1 ? 'the one JSON document on it was read' : `${several} JSON documents on it were read`
  if (skipped === 0) return read
  const characters = skipped === 1 ? '1 character' : `${skipped} characters`
  return `${read}; ${characters} of it could not be read`
}

const RECORD_KEYS = ['uuid', 'timestamp', 'sessionId', 'leafUuid', 'messageId'] as const

/** A complete line of a session file, and not a part of the torn one before it. */
function isRecord(value: JsonObject): boolean {
  return typeof value['type'] === 'string' && RECORD_KEYS.some((key) => typeof value[key] === 'string')
}

/** A document ends here: the line ends, or another document begins. */
function isBorder(line: string, end: number): boolean {
  const next = skipGap(line, end)
  return next >= line.length || line.charAt(next) === '{'
}

/** Skips white space, and the zeros that a file system leaves after a power failure. */
function skipGap(line: string, at: number): number {
  let code = line.charCodeAt(at)
  while (code === 32 || code === 9 || code === 10 || code === 13 || code === 0) code = line.charCodeAt(++at)
  return at
}
