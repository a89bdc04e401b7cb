import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import type { Entry, EntryId } from '../entry.ts'
import type { Totals } from '../totals.ts'

// What every line has besides its payload. The order of members in our lines, all small ones before the payload, so that the first
// bytes of a line show its place in the chain:
//
//   type, subtype?, uuid, parentUuid, logicalParentUuid?, isSidechain, sessionId, timestamp?, cwd, version,
//   requestId?, isCompactSummary?, content?, compactMetadata?, palimpsest, message?
//
// `timestamp` is absent if the time is unknown.

/** What a line says about where it was written. */
export interface Envelope {
  readonly sessionId: string
  readonly cwd: string
  readonly version: string
  /** The whole file belongs to an agent. */
  readonly isSidechain?: boolean | undefined
  /** Totals up to and including this line, so that a list of sessions reads only the ends of files. On message lines. */
  readonly totals?: Totals
}

export interface EntryPlace {
  readonly id: EntryId
  readonly parent: EntryId | null
  readonly at: number
  readonly sidechain?: true
}

/** The members of a line, in order; `JSON.stringify` omits those that are undefined. */
export interface LineStart {
  readonly type: string
  readonly subtype?: string
  readonly requestId?: string
  readonly isCompactSummary?: true
  readonly content?: string
  readonly logicalParentUuid?: EntryId | null
  readonly compactMetadata?: object
}

/** The whole line except its closing brace, so that a payload text may follow. */
export function openLine(entry: Entry, envelope: Envelope, start: LineStart, own: object): string {
  const iso = toIso(entry.at)
  const line = {
    type: start.type,
    subtype: start.subtype,
    uuid: entry.id,
    parentUuid: entry.parent,
    logicalParentUuid: start.logicalParentUuid,
    isSidechain: entry.sidechain === true || envelope.isSidechain === true,
    sessionId: envelope.sessionId,
    timestamp: iso,
    cwd: envelope.cwd,
    version: envelope.version,
    requestId: start.requestId,
    isCompactSummary: start.isCompactSummary,
    content: start.content,
    compactMetadata: start.compactMetadata,
    palimpsest: iso === undefined && Number.isFinite(entry.at) ? { at: entry.at, ...own } : own,
  }
  return JSON.stringify(line).slice(0, -1)
}

/** Undefined if the line has no id: it then has no place in any chain. */
export function placeOf(fields: JsonObject): EntryPlace | undefined {
  const { uuid, parentUuid, timestamp, isSidechain, palimpsest } = fields
  if (typeof uuid !== 'string') return undefined
  const exact = isJsonObject(palimpsest) ? palimpsest['at'] : undefined
  return {
    id: uuid,
    parent: typeof parentUuid === 'string' ? parentUuid : null,
    at:
      typeof exact === 'number' ? exact : typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN,
    ...(isSidechain === true && { sidechain: true }),
  }
}

/** ISO times hold whole milliseconds of the years that a Date can represent; other times are stored separately as numbers. */
function toIso(at: number): string | undefined {
  const date = new Date(at)
  return date.getTime() === at ? date.toISOString() : undefined
}
