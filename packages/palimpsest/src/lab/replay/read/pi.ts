import type { BoundaryEntry, Entry, MessageEntry } from '../../../transcript/entry.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../wire/json.ts'
import type { Block } from '../../../wire/message.ts'
import type { Usage } from '../../../wire/usage.ts'
import { convertedMessage, imageFromData, textBlocks, toolInput, wireName } from './convert.ts'
import { listField, numberField, objectField, textField, timeField } from './field.ts'
import { finishSession } from './finish.ts'
import { readRecords, type LineReader } from './line-reader.ts'
import type { ChainNode } from './link.ts'
import { createTally } from './tally.ts'

// pi's session file. The first version is a plain sequence; later ones name a parent per line. One line is one whole response.

interface Line {
  readonly record: JsonObject
  readonly id: string
  readonly at: number
}

/** The entries of one line, in order, or the kind of a line without anything that the model saw. */
type Settled = readonly Entry[] | string

export function createPiReader(): LineReader {
  const tally = createTally()
  const nodes: ChainNode[] = []
  /** Ids by position in the file, the header first: a compaction names the first kept line by its position. */
  const ids: string[] = []
  let sessionId = ''

  return readRecords({
    tally,
    // Compactions name lines by position, so this line needs a place too.
    unreadable: () => void ids.push(''),
    record({ record, number, key }) {
      const line = {
        record,
        id: textField(record, 'id') ?? `line-${key}`,
        at: timeField(record, 'timestamp'),
      }
      ids.push(line.id)
      if (record['type'] === 'session') {
        sessionId ||= textField(record, 'id') ?? ''
        return tally.used()
      }
      const settled = settleLine(line, nodes, ids)
      if (typeof settled === 'string') tally.ignored(settled)
      else tally.used()
      nodes.push(...toNodes(line, number, settled))
    },
    end: () => finishSession({ format: 'pi', sessionId, nodes, clearings: [], tally }),
  })
}

function toNodes({ record, id }: Line, line: number, settled: Settled): ChainNode[] {
  const recorded = record['parentId']
  const parent = typeof recorded === 'string' || recorded === null ? recorded : undefined
  if (typeof settled === 'string') return [{ id, parent, line }]
  return settled.map((entry, index) => ({
    id: entry.id,
    parent: index === 0 ? parent : undefined,
    line,
    entry,
  }))
}

function settleLine(line: Line, nodes: readonly ChainNode[], ids: readonly string[]): Settled {
  const { record } = line
  const type = textField(record, 'type') ?? 'no type'
  switch (type) {
    case 'message':
      return settleMessage(line)
    case 'custom_message':
      return [userEntry(line, contentBlocks(record['content']), 'engine')]
    case 'branch_summary':
      return [userEntry(line, textBlocks(textField(record, 'summary')), 'engine')]
    case 'compaction': {
      // Later lines name the compaction as their parent, so the summary, which comes last, gets its id.
      const summary = userEntry(line, textBlocks(textField(record, 'summary')), 'engine')
      return [boundaryEntry(line, nodes, ids), { ...summary, part: 'summary' }]
    }
    default:
      return type
  }
}

function settleMessage(line: Line): Settled {
  const message = objectField(line.record, 'message')
  const role = textField(message, 'role') ?? 'no role'
  switch (role) {
    case 'user':
      return [userEntry(line, contentBlocks(message?.['content']), 'user')]
    case 'assistant':
      return message ? [answerEntry(line, message)] : `message:${role}`
    case 'toolResult':
      return message ? [userEntry(line, [toolResult(message)], 'tool')] : `message:${role}`
    case 'bashExecution':
      // A command that the user ran with `!`; with `!!` the model does not see it.
      if (message?.['excludeFromContext'] === true) return `message:${role} kept from the model`
      return [
        userEntry(
          line,
          [...textBlocks(textField(message, 'command')), ...textBlocks(textField(message, 'output'))],
          'tool',
        ),
      ]
    case 'custom':
    case 'hookMessage':
      return [userEntry(line, contentBlocks(message?.['content']), 'engine')]
    default:
      return `message:${role}`
  }
}

function answerEntry(line: Line, message: JsonObject): MessageEntry {
  const model = textField(message, 'model')
  const usage = toUsage(objectField(message, 'usage'))
  return {
    kind: 'message',
    id: line.id,
    parent: null,
    at: line.at,
    origin: 'model',
    ...convertedMessage('assistant', contentBlocks(message['content'])),
    responseId: line.id,
    ...(model !== undefined && { model }),
    ...(usage && { usage }),
  }
}

function userEntry(line: Line, blocks: readonly Block[], origin: MessageEntry['origin']): MessageEntry {
  return {
    kind: 'message',
    id: line.id,
    parent: null,
    at: line.at,
    origin,
    ...convertedMessage('user', blocks),
  }
}

function contentBlocks(content: Json | undefined): Block[] {
  if (typeof content === 'string') return textBlocks(content)
  return listField({ content }, 'content').flatMap((item) => (isJsonObject(item) ? toBlock(item) : []))
}

function toBlock(item: JsonObject): Block[] {
  switch (item['type']) {
    case 'text':
      return textBlocks(textField(item, 'text'))
    case 'image':
      return [imageFromData(textField(item, 'data') ?? '', textField(item, 'mimeType'))]
    case 'thinking':
      return [
        {
          type: 'thinking',
          thinking: textField(item, 'thinking') ?? '',
          signature: textField(item, 'thinkingSignature') ?? '',
        },
      ]
    case 'toolCall':
      return [
        {
          type: 'tool_use',
          id: wireName(textField(item, 'id') ?? ''),
          name: wireName(textField(item, 'name') ?? ''),
          input: toolInput(item['arguments'], 'arguments'),
        },
      ]
    default:
      return []
  }
}

function toolResult(message: JsonObject): Block {
  return {
    type: 'tool_result',
    tool_use_id: wireName(textField(message, 'toolCallId') ?? ''),
    content: contentBlocks(message['content']),
    ...(message['isError'] === true && { is_error: true }),
  }
}

/** pi's figures mean the same as the Messages API's: input excludes cache reads and writes. */
function toUsage(usage: JsonObject | undefined): Usage | undefined {
  const input = numberField(usage, 'input')
  if (input === undefined) return undefined
  return {
    input_tokens: input,
    output_tokens: numberField(usage, 'output') ?? 0,
    cache_creation_input_tokens: numberField(usage, 'cacheWrite') ?? 0,
    cache_read_input_tokens: numberField(usage, 'cacheRead') ?? 0,
  }
}

function boundaryEntry(line: Line, nodes: readonly ChainNode[], ids: readonly string[]): BoundaryEntry {
  const { record, id, at } = line
  const kept = keptNodes(record, nodes, ids)
  const head = kept[0]?.id
  const tail = kept.at(-1)?.id
  return {
    kind: 'boundary',
    id: `${id}-boundary`,
    parent: null,
    at,
    summary: [id],
    ...(head !== undefined && tail !== undefined && { kept: { head, tail, anchor: id } }),
    keeps: 'tail',
    attachments: [],
    logicalParent: nodes.at(-1)?.id ?? null,
    meta: { trigger: 'auto', preTokens: numberField(record, 'tokensBefore') ?? 0 },
  }
}

/** Messages from the first kept one to the one before the compaction. */
function keptNodes(record: JsonObject, nodes: readonly ChainNode[], ids: readonly string[]): ChainNode[] {
  const index = numberField(record, 'firstKeptEntryIndex')
  const first = textField(record, 'firstKeptEntryId') ?? (index === undefined ? undefined : ids[index])
  const last = textField(record, 'parentId') ?? nodes.at(-1)?.id
  const from = nodes.findIndex((node) => node.id === first)
  const to = nodes.findLastIndex((node) => node.id === last)
  return from < 0 ? [] : nodes.slice(from, to + 1).filter((node) => node.entry?.kind === 'message')
}
