import { UsageError } from '../errors.ts'
import type { WindowReading } from '../situation/situation.ts'
import { computeThresholds } from '../situation/thresholds.ts'
import { computeWindow } from '../situation/window.ts'
import { NO_MODELS, resolveModel } from '../tokens/models.ts'
import type { EntryId, MessageEntry } from '../transcript/entry.ts'
import { messageText } from '../transcript/settle.ts'
import { viewOf, type View, type ViewNode } from '../transcript/view.ts'
import { isJsonObject } from '../wire/json.ts'
import { isThinking } from '../wire/message.ts'
import { parseModelName } from '../wire/model-facts.ts'
import { parseMessage } from '../wire/parse.ts'
import { problemText } from '../wire/shape.ts'

// A plain list of messages as a view, and a view as such a list again. A message that no layer touched comes back as the very object that
// was given.

/** A message of the Messages API, as any version of its SDK types it. */
export interface HistoryMessage {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string | readonly { readonly type: string }[]
}

/** What a layer should know about the model. */
export interface LayerOptions {
  /** As the provider names it. Absent: an unknown model, which is assumed to bind its thinking to the prefix. */
  readonly model?: string | undefined
  /** Most tokens of the conversation. Absent: what is sensible for the model. */
  readonly window?: number | undefined
}

export function viewOfHistory(messages: readonly HistoryMessage[]): View {
  return viewOf(messages.map((message, index) => entryOf(message, index)))
}

export function entryIdOf(index: number): EntryId {
  return `message-${index}`
}

function entryOf(given: HistoryMessage, index: number): MessageEntry {
  const parsed = parseMessage(given)
  if (!parsed.ok)
    throw new UsageError(`messages[${index}] is not a valid message: ${problemText(parsed.problem)}`)
  const message = parsed.value
  const json = JSON.stringify(given)
  const origin = message.role === 'assistant' ? 'model' : 'user'
  const parent = index === 0 ? null : entryIdOf(index - 1)
  return { kind: 'message', id: entryIdOf(index), parent, at: index, origin, message, json }
}

/**
 * The view as messages. After the first change, a model that binds its thinking to the prefix would refuse the thinking, so it is removed
 * there.
 */
export function messagesOf<M extends HistoryMessage>(
  { nodes }: Pick<View, 'nodes'>,
  given: readonly M[],
  { model }: Pick<LayerOptions, 'model'>,
): M[] {
  const places = new Map(given.map((_, index) => [entryIdOf(index), index]))
  const bindsThinking = readingFor({ model }).model.facts.thinking.bindsPrefix
  const messages: M[] = []
  let isSame = true
  for (const node of nodes) {
    const own: ViewNode = isSame || !bindsThinking ? node : withoutThinking(node)
    if (own.blocks.length === 0) continue
    const index = places.get(node.source.id) ?? -1
    const same: M | undefined = own === node && isWhole(node, given[index]) ? given[index] : undefined
    // A message that moved is not changed itself, but it changes what comes before the next ones.
    isSame &&= same !== undefined && index === messages.length
    messages.push(...(same === undefined ? printed(own, given) : [same]))
  }
  return messages
}

function isWhole({ blocks, entries }: ViewNode, given: HistoryMessage | undefined): boolean {
  if (given === undefined || entries.length !== 1) return false
  const count = typeof given.content === 'string' ? 1 : given.content.length
  return blocks.length === count && blocks.every(({ original, at }, place) => original && at.index === place)
}

function withoutThinking(node: ViewNode): ViewNode {
  const blocks = node.blocks.filter(({ block }) => !isThinking(block))
  return blocks.length === node.blocks.length ? node : { ...node, blocks }
}

function printed<M extends HistoryMessage>(node: ViewNode, given: readonly M[]): M[] {
  const texts = node.blocks.map(({ json }) => json)
  const message: unknown = JSON.parse(messageText(node, texts))
  return isMessage(message, given) ? [message] : []
}

/** Casts to the caller's type: what is made here is a message of the same API. */
export function isMessage<M extends HistoryMessage>(value: unknown, _given: readonly M[]): value is M {
  return isJsonObject(value) && 'role' in value && 'content' in value
}

export function readingFor({ model = '', window }: LayerOptions): WindowReading {
  const { id, extended } = parseModelName(model)
  const resolved = resolveModel(NO_MODELS, id, '')
  const computed = computeWindow(resolved, { extended, windowMax: window })
  return {
    model: resolved,
    window: computed,
    thresholds: computeThresholds(computed),
    autoEnabled: true,
    compactEnabled: true,
  }
}
