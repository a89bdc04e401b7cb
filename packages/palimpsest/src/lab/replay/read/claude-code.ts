import { decodeBoundary } from '../../../transcript/lines/codec-boundary.ts'
import { decodeMessage } from '../../../transcript/lines/codec-message.ts'
import { decodeOwnKind } from '../../../transcript/lines/codec-own-kinds.ts'
import type { Entry, MessageEntry, Origin } from '../../../transcript/entry.ts'
import { placeOf, type EntryPlace } from '../../../transcript/lines/line-base.ts'
import { originOfUserText } from '../../../transcript/lines/foreign-origin.ts'
import { FieldError } from '../../../transcript/lines/line-fields.ts'
import { findMember, isJsonObject, type JsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks } from '../../../wire/message.ts'
import { readAttachment } from './attachment.ts'
import { convertedMessage } from './convert.ts'
import { numberField, objectField, textField, textsField, timeField } from './field.ts'
import { finishSession } from './finish.ts'
import { readRecords, type LineReader } from './line-reader.ts'
import type { ChainNode } from './link.ts'
import type { RecordedClearing } from './recorded-session.ts'
import { createTally } from './tally.ts'

// Claude Code's session file, whose shape our own transcripts share: one JSON object per line, each naming its parent. A response has
// one line per block, all with its id and the same usage. `toolUseResult` beside a message repeats the result for a screen; we never
// read it.

/** The client's own words in the model's place (an API error, an empty answer); no response belongs to them. */
const SYNTHETIC_MODEL = '<synthetic>'

const WEB_TOOLS = new Set(['WebFetch', 'WebSearch'])
const MCP_PREFIX = 'mcp__'

/** The outcome of reading a line. */
type Settled =
  | { readonly as: 'used'; readonly entry: Entry; readonly aside?: boolean }
  | { readonly as: 'ignored'; readonly kind: string }
  | { readonly as: 'reported'; readonly what: string }

interface Line {
  readonly record: JsonObject
  readonly text: string
  readonly place: EntryPlace
}

export function createClaudeCodeReader(): LineReader {
  const tally = createTally()
  const nodes: ChainNode[] = []
  const ids = new Set<string>()
  const toolNames = new Map<string, string>()
  const clearings: RecordedClearing[] = []
  let sessionId = ''

  return readRecords({
    tally,
    record({ record, text, number, key }) {
      const named = placeOf(record)
      if (named && ids.has(named.id)) return tally.repeated('same uuid')
      sessionId ||= textField(record, 'sessionId') ?? ''
      const place = named ?? unnamedPlace(record, key)
      const settled = settleLine({ record, text, place }, toolNames)
      if (settled.as === 'reported') tally.reported(number, settled.what)
      if (settled.as === 'ignored') tally.ignored(settled.kind)
      if (settled.as === 'used') {
        tally.used()
        clearings.push(...readClearing(record))
      }
      // A line that we do not read may still be the parent of others.
      if (settled.as !== 'used' && !named) return
      ids.add(place.id)
      nodes.push(toNode(record, place, number, settled))
    },
    end: () => finishSession({ format: 'claude-code', sessionId, nodes, clearings, tally }),
  })
}

function unnamedPlace(record: JsonObject, key: string): EntryPlace {
  const at = timeField(record, 'timestamp')
  return {
    id: `line-${key}`,
    parent: null,
    at,
    ...(record['isSidechain'] === true && { sidechain: true }),
  }
}

function toNode(record: JsonObject, place: EntryPlace, line: number, settled: Settled): ChainNode {
  const parent = record['parentUuid']
  return {
    id: place.id,
    parent: typeof parent === 'string' || parent === null ? parent : undefined,
    line,
    ...(place.sidechain && { sidechain: textField(record, 'agentId') ?? '' }),
    ...(settled.as === 'used' && { entry: settled.entry, ...(settled.aside && { aside: true }) }),
  }
}

function settleLine(line: Line, toolNames: Map<string, string>): Settled {
  try {
    return settleKnown(line, toolNames)
  } catch (error) {
    // A malformed line in our own format.
    if (error instanceof FieldError) return { as: 'reported', what: error.message }
    throw error
  }
}

function settleKnown(line: Line, toolNames: Map<string, string>): Settled {
  const type = textField(line.record, 'type') ?? 'no type'
  switch (type) {
    case 'user':
    case 'assistant':
      return settleMessage(line, toolNames)
    case 'system':
      return settleSystem(line)
    case 'attachment':
      return settleAttachment(line)
    case 'palimpsest': {
      const entry = decodeOwnKind(line.record, line.place)
      return entry ? { as: 'used', entry } : { as: 'ignored', kind: type }
    }
    default:
      return { as: 'ignored', kind: type }
  }
}

function settleMessage(line: Line, toolNames: Map<string, string>): Settled {
  const { record, text, place } = line
  if (textField(objectField(record, 'message'), 'model') === SYNTHETIC_MODEL)
    return { as: 'ignored', kind: 'assistant <synthetic>' }
  const entry = decodeMessage(text, record, place)
  if (!entry)
    return { as: 'reported', what: `a ${textField(record, 'type')} line without a readable message` }
  for (const block of toBlocks(entry.message.content))
    if (isBlock(block, 'tool_use')) toolNames.set(block.id, block.name)
  if (isJsonObject(record['palimpsest'])) return { as: 'used', entry }
  if (entry.message.role === 'assistant')
    return { as: 'used', entry: { ...entry, responseId: entry.responseId ?? entry.id } }
  return { as: 'used', entry: { ...entry, origin: originOf(entry, toolNames) } }
}

function originOf(entry: MessageEntry, toolNames: ReadonlyMap<string, string>): Origin {
  const blocks = toBlocks(entry.message.content)
  const result = blocks.find((block) => isBlock(block, 'tool_result'))
  if (result) {
    const name = toolNames.get(result.tool_use_id) ?? ''
    if (name.startsWith(MCP_PREFIX)) return 'mcp'
    return WEB_TOOLS.has(name) ? 'web' : 'tool'
  }
  return entry.origin
}

function settleSystem({ record, text, place }: Line): Settled {
  const subtype = textField(record, 'subtype') ?? 'no subtype'
  switch (subtype) {
    case 'compact_boundary':
      return { as: 'used', entry: decodeBoundary(record, place) }
    case 'message': {
      const entry = decodeMessage(text, record, place)
      return entry ? { as: 'used', entry } : { as: 'ignored', kind: `system:${subtype}` }
    }
    case 'microcompact_boundary':
      return { as: 'used', entry: { kind: 'other', ...place, type: `system:${subtype}`, line: text } }
    case 'local_command': {
      // The output of a slash command; the model sees it as the user's.
      const content = textField(record, 'content')
      if (!content) return { as: 'ignored', kind: `system:${subtype}` }
      const origin = originOfUserText(content)
      return {
        as: 'used',
        entry: { kind: 'message', ...place, origin, ...convertedMessage('user', content) },
      }
    }
    default:
      return { as: 'ignored', kind: `system:${subtype}` }
  }
}

function settleAttachment({ record, text, place }: Line): Settled {
  const attachment = objectField(record, 'attachment')
  if (!attachment) return { as: 'reported', what: 'an attachment line without an attachment' }
  const read = readAttachment(attachment, findMember(text, 'attachment') ?? '')
  if (!read) return { as: 'ignored', kind: `attachment:${textField(attachment, 'type') ?? 'no type'}` }
  const entry: Entry = {
    kind: 'message',
    ...place,
    origin: read.origin,
    ...convertedMessage('user', read.content),
  }
  return { as: 'used', entry, aside: !read.isQueued }
}

/** The old results that the recorded agent cleared from its view, if the line says so. */
function readClearing(record: JsonObject): RecordedClearing[] {
  const meta = objectField(record, 'microcompactMetadata')
  if (!meta) return []
  const preTokens = numberField(meta, 'preTokens')
  const freedTokens = numberField(meta, 'tokensSaved')
  return [
    {
      at: timeField(record, 'timestamp'),
      toolUseIds: textsField(meta, 'compactedToolIds'),
      ...(preTokens !== undefined && { preTokens }),
      ...(freedTokens !== undefined && { freedTokens }),
    },
  ]
}
