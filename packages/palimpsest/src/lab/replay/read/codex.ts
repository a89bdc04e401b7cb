import type { Entry, MessageEntry, Origin } from '../../../transcript/entry.ts'
import type { JsonObject } from '../../../wire/json.ts'
import type { Block } from '../../../wire/message.ts'
import type { Usage } from '../../../wire/usage.ts'
import { answerBlocks, itemText, messageBlocks, outputBlock } from './codex-item.ts'
import { convertedMessage, textBlocks } from './convert.ts'
import { numberField, objectField, objectsField, textField, timeField } from './field.ts'
import { finishSession } from './finish.ts'
import { readRecords, type LineReader } from './line-reader.ts'
import type { ChainNode } from './link.ts'
import { createTally, type Tally } from './tally.ts'

// Codex's rollout file: `{timestamp, type, payload}` per line. The items of one response come in sequence, then the results, then its
// token count. Responses have no id: their id comes from their first line.

interface State {
  readonly tally: Tally
  readonly nodes: ChainNode[]
  readonly usages: Map<string, Usage>
  /** Texts that the user typed, from their own events; other texts in the user's role are the client's. */
  readonly typed: Set<string>
  sessionId: string
  system: string | undefined
  model: string
  /** The response whose items are being read; undefined between responses. */
  response: string | undefined
  /** The newest response without a count of its tokens. */
  uncounted: string | undefined
  newestTotal: string
  newestTokens: number
  /** Index of the newest boundary among the nodes; undefined once something follows it. */
  boundaryAt: number | undefined
}

export function createCodexReader(): LineReader {
  const state: State = {
    tally: createTally(),
    nodes: [],
    usages: new Map(),
    typed: new Set(),
    sessionId: '',
    system: undefined,
    model: '',
    response: undefined,
    uncounted: undefined,
    newestTotal: '',
    newestTokens: 0,
    boundaryAt: undefined,
  }
  return readRecords({
    tally: state.tally,
    record({ record, number, key }) {
      const payload = objectField(record, 'payload')
      if (!payload) return state.tally.reported(number, 'a line without a payload')
      settleLine(state, { record, payload, number, key, at: timeField(record, 'timestamp') })
    },
    end: () => finish(state),
  })
}

interface Line {
  readonly record: JsonObject
  readonly payload: JsonObject
  readonly number: number
  readonly key: string
  readonly at: number
}

function settleLine(state: State, line: Line): void {
  const { payload } = line
  const type = textField(line.record, 'type') ?? 'no type'
  switch (type) {
    case 'session_meta':
      state.sessionId ||= textField(payload, 'id') ?? ''
      state.system ??= textField(objectField(payload, 'base_instructions'), 'text')
      return state.tally.used()
    case 'turn_context':
      state.model = textField(payload, 'model') ?? state.model
      return state.tally.used()
    case 'response_item':
      return settleItem(state, line)
    case 'event_msg':
      return settleEvent(state, line)
    case 'compacted':
      addBoundary(state, line)
      return state.tally.used()
    default:
      return state.tally.ignored(type)
  }
}

function settleItem(state: State, line: Line): void {
  const { payload, key } = line
  const type = textField(payload, 'type') ?? 'no type'
  const role = textField(payload, 'role')
  if (type === 'message' && role !== 'assistant') {
    state.response = undefined
    state.tally.used()
    return addMessage(state, line, 'user', messageBlocks(payload))
  }
  const output = outputBlock(payload)
  if (output) {
    state.response = undefined
    state.tally.used()
    return addMessage(state, line, 'tool', [output])
  }
  const answer = answerBlocks(payload, key)
  if (!answer) return state.tally.ignored(`response_item:${type}`)
  if (answer.length === 0) return state.tally.ignored(`response_item:${type} (empty)`)
  state.response ??= `response-${key}`
  state.uncounted = state.response
  state.tally.used()
  addAnswer(state, line, state.response, answer)
}

function settleEvent(state: State, { payload, number }: Line): void {
  const type = textField(payload, 'type') ?? 'no type'
  switch (type) {
    case 'token_count':
      return settleCount(state, payload, number)
    case 'user_message':
      state.typed.add(textField(payload, 'message') ?? '')
      return state.tally.repeated(`event_msg:${type}`)
    case 'agent_message':
      return state.tally.repeated(`event_msg:${type}`)
    default:
      return state.tally.ignored(`event_msg:${type}`)
  }
}

/**
 * A count comes after each response, and again, with the same total, when something else changes. A repeated count does not end the
 * response: after an interrupted stream resumes, the answer continues.
 */
function settleCount(state: State, payload: JsonObject, number: number): void {
  const info = objectField(payload, 'info')
  const last = objectField(info, 'last_token_usage')
  const total = JSON.stringify(info?.['total_token_usage'] ?? null)
  const { uncounted } = state
  state.newestTokens = numberField(last, 'total_tokens') ?? state.newestTokens
  const isRepeated = total === state.newestTotal || !last
  state.newestTotal = total
  if (isRepeated) {
    notePostTokens(state)
    return state.tally.repeated('event_msg:token_count')
  }
  state.response = undefined
  if (uncounted === undefined)
    return state.tally.reported(number, 'tokens of a response of which nothing is recorded')
  state.tally.used()
  state.usages.set(uncounted, toUsage(last))
  state.uncounted = undefined
}

/** Codex's input includes what the cache served; the Messages API's does not. Codex does not report cache writes. */
function toUsage(last: JsonObject): Usage {
  const cached = numberField(last, 'cached_input_tokens') ?? 0
  const thinking = numberField(last, 'reasoning_output_tokens')
  return {
    input_tokens: Math.max(0, (numberField(last, 'input_tokens') ?? 0) - cached),
    output_tokens: numberField(last, 'output_tokens') ?? 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    ...(thinking !== undefined && { output_tokens_details: { thinking_tokens: thinking } }),
  }
}

/** The first count after a boundary says how large the conversation is now. */
function notePostTokens(state: State): void {
  const { boundaryAt, nodes, newestTokens } = state
  const node = nodes[boundaryAt ?? -1]
  if (boundaryAt === undefined || node?.entry?.kind !== 'boundary') return
  const meta = { ...node.entry.meta, postTokens: newestTokens }
  nodes[boundaryAt] = { ...node, entry: { ...node.entry, meta } }
  state.boundaryAt = undefined
}

/** The line itself contains the history after a compaction. `extra` names items that only the provider can read. */
function addBoundary(state: State, { payload, number, key, at }: Line): void {
  const id = `line-${key}`
  const items = objectsField(payload, 'replacement_history')
  const messages = items.filter((item) => item['type'] === 'message')
  const unreadable = items.map((item) => textField(item, 'type') ?? '').filter((type) => type !== 'message')
  const texts =
    messages.length > 0 ? messages.map(messageBlocks) : [textBlocks(textField(payload, 'message'))]
  const summary = texts.map((blocks, index): MessageEntry => ({
    kind: 'message',
    id: `${id}-${index}`,
    parent: null,
    at,
    origin: 'engine',
    ...convertedMessage('user', blocks),
    part: 'summary',
  }))
  state.response = undefined
  addEntry(state, number, {
    kind: 'boundary',
    id,
    parent: null,
    at,
    summary: summary.map((entry) => entry.id),
    keeps: 'tail',
    attachments: [],
    logicalParent: state.nodes.at(-1)?.id ?? null,
    meta: { trigger: 'auto', preTokens: state.newestTokens, extra: { unreadable } },
  })
  for (const entry of summary) addEntry(state, number, entry)
  state.boundaryAt = state.nodes.length - summary.length - 1
}

function addAnswer(
  state: State,
  { number, key, at }: Line,
  responseId: string,
  blocks: readonly Block[],
): void {
  addEntry(state, number, {
    kind: 'message',
    id: `line-${key}`,
    parent: null,
    at,
    origin: 'model',
    ...convertedMessage('assistant', blocks),
    responseId,
    ...(state.model !== '' && { model: state.model }),
  })
}

function addMessage(state: State, { number, key, at }: Line, origin: Origin, blocks: readonly Block[]): void {
  addEntry(state, number, {
    kind: 'message',
    id: `line-${key}`,
    parent: null,
    at,
    origin,
    ...convertedMessage('user', blocks),
  })
}

function addEntry(state: State, line: number, entry: Entry): void {
  state.nodes.push({ id: entry.id, parent: undefined, line, entry })
  state.boundaryAt = undefined
}

function finish(state: State) {
  const nodes = state.nodes.map((node) =>
    node.entry?.kind === 'message' ? { ...node, entry: finishMessage(state, node.entry) } : node,
  )
  const { sessionId, system, tally } = state
  return finishSession({
    format: 'codex',
    sessionId,
    ...(system !== undefined && { system }),
    nodes,
    clearings: [],
    tally,
  })
}

/** Token counts, and events that separate the user's words from the client's, come after the lines that they describe. */
function finishMessage(state: State, entry: MessageEntry): MessageEntry {
  const usage = state.usages.get(entry.responseId ?? '')
  if (usage) return { ...entry, usage }
  if (entry.origin !== 'user' || state.typed.size === 0) return entry
  return state.typed.has(itemText(entry.message)) ? entry : { ...entry, origin: 'engine' }
}
