import type { Entry, MessageEntry } from '../../../transcript/entry.ts'
import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import type { Block } from '../../../wire/message.ts'
import type { Usage } from '../../../wire/usage.ts'
import { convertedMessage, imageFromUrl, textBlocks, toolInput, wireName } from './convert.ts'
import { listField, numberField, objectField, objectsField, textField } from './field.ts'
import { exportsIn } from './opencode-export.ts'
import { finishSession } from './finish.ts'
import type { LineReader } from './line-reader.ts'
import type { ChainNode } from './link.ts'
import type { RecordedClearing } from './recorded-session.ts'
import { createTally, type Tally } from './tally.ts'

// opencode's export: one JSON document. A tool part contains both call and result, so pairs follow from position, and redacted or
// repeated ids do no harm. A message may contain several steps; each is one response.

/** The whole document is in memory once as text and once parsed. */
export const DOCUMENT_CHARS_MAX = 256 * 1024 * 1024

const REDACTED = 'REDACTED'

export function createOpencodeReader(): LineReader {
  const tally = createTally()
  const lines: string[] = []
  let chars = 0
  return {
    line(text) {
      chars += text.length
      if (chars <= DOCUMENT_CHARS_MAX) lines.push(text)
    },
    end() {
      if (chars <= DOCUMENT_CHARS_MAX) return readExports(exportsIn(lines.join('\n'), tally), tally)
      tally.reported(0, `the document is longer than ${DOCUMENT_CHARS_MAX} characters`)
      return readExports([], tally)
    },
  }
}

interface State {
  readonly tally: Tally
  readonly nodes: ChainNode[]
  readonly usedIds: Set<string>
  /** Tool uses by the time when their results were cleared. */
  readonly cleared: Map<number, string[]>
}

/** Reads several exports in order. A message that they repeat counts once. */
function readExports(documents: readonly JsonObject[], tally: Tally) {
  const state: State = { tally, nodes: [], usedIds: new Set(), cleared: new Map() }
  const ids = new Set<string>()
  const messages = documents.flatMap((document) => listField(document, 'messages'))
  for (const [index, message] of messages.entries()) {
    const info = isJsonObject(message) ? objectField(message, 'info') : undefined
    if (!info || !isJsonObject(message)) {
      tally.reported(index + 1, 'a message without info')
      continue
    }
    const id = textField(info, 'id') ?? REDACTED
    if (documents.length > 1 && id !== REDACTED && ids.has(id)) {
      tally.repeated('same message id')
      continue
    }
    ids.add(id)
    tally.used()
    addMessage(state, { info, parts: objectsField(message, 'parts'), number: index + 1 })
  }
  const clearings = [...state.cleared].map(([at, toolUseIds]): RecordedClearing => ({ at, toolUseIds }))
  return finishSession({
    format: 'opencode',
    sessionId: textField(objectField(documents[0], 'info'), 'id') ?? '',
    nodes: state.nodes,
    clearings,
    tally,
  })
}

interface Message {
  readonly info: JsonObject
  readonly parts: readonly JsonObject[]
  readonly number: number
}

function addMessage(state: State, message: Message): void {
  const { info, parts, number } = message
  const at = numberField(objectField(info, 'time'), 'created') ?? Number.NaN
  const id = `message-${number}`
  const isSummary = info['summary'] === true
  if (info['role'] !== 'assistant') {
    const blocks = parts.flatMap((part) => userBlocks(state, part))
    const entry = userEntry(id, at, 'user', blocks)
    // The message that asks for a summary is the client's, and marks the boundary.
    const asks = parts.some((part) => part['type'] === 'compaction')
    return addEntry(state, number, asks ? { ...entry, origin: 'engine' } : entry)
  }
  if (isSummary) return addBoundary(state, message, at)
  for (const [step, stepParts] of splitSteps(parts).entries())
    addStep(state, message, { id: `${id}-${step + 1}`, at, parts: stepParts })
}

/** The parts from each `step-start` to the next. */
function splitSteps(parts: readonly JsonObject[]): JsonObject[][] {
  const steps: JsonObject[][] = [[]]
  for (const part of parts) {
    if (part['type'] === 'step-start' && steps.at(-1)?.length) steps.push([])
    steps.at(-1)?.push(part)
  }
  return steps
}

interface Step {
  readonly id: string
  readonly at: number
  readonly parts: readonly JsonObject[]
}

function addStep(state: State, { info, number }: Message, { id, at, parts }: Step): void {
  const answer: Block[] = []
  const results: Block[] = []
  for (const part of parts) {
    if (part['type'] === 'tool') {
      state.tally.used()
      const pair = toolPair(state, part)
      answer.push(pair.use)
      if (pair.result) results.push(pair.result)
    } else answer.push(...answerBlocks(state, part))
  }
  const finish = parts.find((part) => part['type'] === 'step-finish')
  const usage = toUsage(objectField(finish, 'tokens') ?? objectField(info, 'tokens'))
  const model = textField(info, 'modelID')
  addEntry(state, number, {
    kind: 'message',
    id,
    parent: null,
    at,
    origin: 'model',
    ...convertedMessage('assistant', answer),
    responseId: id,
    ...(model !== undefined && { model }),
    ...(usage && { usage }),
  })
  const completed = numberField(objectField(info, 'time'), 'completed') ?? at
  if (results.length > 0) addEntry(state, number, userEntry(`${id}-results`, completed, 'tool', results))
}

/** A summary is an answer that replaces everything before it. */
function addBoundary(state: State, { parts, number }: Message, at: number): void {
  const id = `message-${number}`
  const summary = userEntry(
    `${id}-summary`,
    at,
    'engine',
    parts.flatMap((part) => answerBlocks(state, part)).filter((block) => block.type === 'text'),
  )
  addEntry(state, number, {
    kind: 'boundary',
    id,
    parent: null,
    at,
    summary: [summary.id],
    keeps: 'tail',
    attachments: [],
    logicalParent: state.nodes.at(-1)?.id ?? null,
    meta: { trigger: 'auto', preTokens: 0 },
  })
  addEntry(state, number, { ...summary, part: 'summary' })
}

function userBlocks({ tally }: State, part: JsonObject): Block[] {
  const type = textField(part, 'type') ?? 'no type'
  const url = textField(part, 'url')
  if (type === 'text' && part['ignored'] !== true) {
    tally.used()
    return textBlocks(textField(part, 'text'))
  }
  if (type === 'file' && url !== undefined) {
    tally.used()
    return [fileBlock(part, url)]
  }
  tally.ignored(`part:${type}`)
  return []
}

function answerBlocks({ tally }: State, part: JsonObject): Block[] {
  const type = textField(part, 'type') ?? 'no type'
  if (type === 'text') {
    tally.used()
    return textBlocks(textField(part, 'text'))
  }
  if (type === 'reasoning') {
    tally.used()
    const signature = textField(objectField(objectField(part, 'metadata'), 'anthropic'), 'signature') ?? ''
    return [{ type: 'thinking', thinking: textField(part, 'text') ?? '', signature }]
  }
  if (type === 'step-finish') tally.used()
  else tally.ignored(`part:${type}`)
  return []
}

interface ToolPair {
  readonly use: Block
  readonly result?: Block
}

function toolPair(state: State, part: JsonObject): ToolPair {
  const call = objectField(part, 'state')
  const id = freshId(state, textField(part, 'callID'))
  const name = wireName(textField(part, 'tool') ?? '')
  const use: Block = { type: 'tool_use', id, name, input: toolInput(call?.['input'], 'input') }
  const cleared = numberField(objectField(call, 'time'), 'compacted')
  if (cleared !== undefined) state.cleared.set(cleared, [...(state.cleared.get(cleared) ?? []), id])
  const error = textField(call, 'error')
  if (error !== undefined)
    return { use, result: { type: 'tool_result', tool_use_id: id, content: error, is_error: true } }
  const output = textField(call, 'output')
  if (output === undefined) return { use }
  const files = objectsField(call, 'attachments').map((file) => fileBlock(file, textField(file, 'url') ?? ''))
  const content = files.length > 0 ? [...textBlocks(output), ...files] : output
  return { use, result: { type: 'tool_result', tool_use_id: id, content } }
}

function freshId(state: State, callId: string | undefined): string {
  const recorded = callId === undefined || callId === REDACTED ? '' : wireName(callId)
  const id = recorded === '' || state.usedIds.has(recorded) ? `call_${state.usedIds.size + 1}` : recorded
  state.usedIds.add(id)
  return id
}

function fileBlock(part: JsonObject, url: string): Block {
  const isImage = (textField(part, 'mime') ?? '').startsWith('image/')
  if (isImage) return imageFromUrl(url)
  return { type: 'document', source: imageFromUrl(url).source }
}

/** opencode's input excludes what the cache served; its output includes reasoning. */
function toUsage(tokens: JsonObject | undefined): Usage | undefined {
  const input = numberField(tokens, 'input')
  if (input === undefined) return undefined
  const cache = objectField(tokens, 'cache')
  const thinking = numberField(tokens, 'reasoning')
  return {
    input_tokens: input,
    output_tokens: numberField(tokens, 'output') ?? 0,
    cache_creation_input_tokens: numberField(cache, 'write') ?? 0,
    cache_read_input_tokens: numberField(cache, 'read') ?? 0,
    ...(thinking !== undefined && { output_tokens_details: { thinking_tokens: thinking } }),
  }
}

function userEntry(
  id: string,
  at: number,
  origin: MessageEntry['origin'],
  blocks: readonly Block[],
): MessageEntry {
  return { kind: 'message', id, parent: null, at, origin, ...convertedMessage('user', blocks) }
}

function addEntry(state: State, line: number, entry: Entry): void {
  state.nodes.push({ id: entry.id, parent: undefined, line, entry })
}
