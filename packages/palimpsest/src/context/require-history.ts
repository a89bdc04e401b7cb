import { UsageError } from '../errors.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { isBlank } from './owner-blocks.ts'
import type { OwnerMessage } from './owner-message.ts'

// What no request can contain is refused before it becomes part of the transcript, with the place of the message and what to do.

/** For a history that was checked: which message made which call. */
export interface KnownCalls {
  readonly places: Map<string, number>
  /** How many of its messages were checked. */
  messages: number
}

/** `kept` messages are those of the last history, and all before `from` are known to be valid. */
export function requireHistory(
  messages: readonly OwnerMessage[],
  { kept, from }: { readonly kept: number; readonly from: number },
  calls: KnownCalls,
  facts: Pick<ModelFacts, 'thinking'>,
): void {
  requireBeginning(messages)
  requireEnd(messages, facts)
  forget(calls, kept)
  for (let i = calls.messages; i < from; i++) for (const id of callsIn(messages[i])) calls.places.set(id, i)
  const open = openBefore(messages, from)
  const added = new Map<string, number>()
  const placeOf = (id: string): number | undefined => added.get(id) ?? calls.places.get(id)
  for (let i = from; i < messages.length; i++) {
    const message = messages[i]
    if (!message || message.role === 'system' || saysNothing(message)) continue
    if (message.role === 'assistant' && messages[i - 1]?.role !== 'assistant') open.clear()
    for (const block of blocksOf(message)) {
      requireRole(message, block, i)
      const call = callIn(block)
      const result = resultIn(block)
      if (call !== undefined) {
        requireNew(call, i, placeOf(call))
        added.set(call, i)
        open.add(call)
      }
      if (result !== undefined && !open.delete(result)) throw misplaced(result, i, placeOf(result), messages)
    }
  }
  for (const [id, place] of added) calls.places.set(id, place)
  calls.messages = messages.length
}

function requireBeginning(messages: readonly OwnerMessage[]): void {
  const first = messages.findIndex((message) => !saysNothing(message))
  const role = messages[first]?.role
  if (role === 'system')
    throw new UsageError(
      `messages[${first}] has the role "system" and no message comes before it: give its text as \`system\`.`,
    )
  if (role === 'assistant')
    throw new UsageError(
      `messages[${first}] is the first message with content, and it is the assistant's: a conversation begins with the user. Put a message of the user before it, or give its text as \`system\`.`,
    )
}

function requireEnd(messages: readonly OwnerMessage[], { thinking }: Pick<ModelFacts, 'thinking'>): void {
  const place = messages.length - 1
  const last = messages[place]
  if (!last) return
  if (saysNothing(last))
    throw new UsageError(`messages[${place}], the last, has no content: give it a text, or leave it out.`)
  if (last.role !== 'assistant') return
  const blocks = blocksOf(last)
  if (!blocks.every((block) => 'type' in block && (block.type === 'text' || block.type === 'thinking')))
    return
  // Models with adaptive thinking came after those that continue an answer.
  if (thinking.modes.includes('adaptive'))
    throw new UsageError(
      `messages[${place}], the last, is the assistant's, and this model does not continue an answer: end with a message of the user.`,
    )
  const end = typeof last.content === 'string' ? last.content : textOf(blocks.at(-1))
  if (end !== end.trimEnd())
    throw new UsageError(
      `messages[${place}], an answer that is to be continued, ends in white space, which the API refuses: trim it.`,
    )
}

function textOf(block: object | undefined): string {
  return block && 'text' in block && typeof block.text === 'string' ? block.text : ''
}

/** What came after the kept messages belongs to another history. */
function forget(calls: KnownCalls, kept: number): void {
  if (kept >= calls.messages) return
  for (const [id, place] of calls.places) if (place >= kept) calls.places.delete(id)
  calls.messages = kept
}

/** Calls of the newest answer before this place that have no result yet. */
function openBefore(messages: readonly OwnerMessage[], from: number): Set<string> {
  let start = from - 1
  while (start >= 0 && messages[start]?.role !== 'assistant') start--
  while (start > 0 && messages[start - 1]?.role === 'assistant') start--
  const open = new Set<string>()
  for (let i = Math.max(0, start); i < from; i++) {
    for (const id of callsIn(messages[i])) open.add(id)
    for (const block of blocksOf(messages[i])) open.delete(resultIn(block) ?? '')
  }
  return open
}

function requireRole({ role }: OwnerMessage, block: object, place: number): void {
  if (role === 'user' && callIn(block) !== undefined)
    throw new UsageError(
      `messages[${place}] is the user's and calls a tool: a call belongs in a message of the assistant.`,
    )
  if (role === 'assistant' && resultIn(block) !== undefined)
    throw new UsageError(
      `messages[${place}] is the assistant's and has the result of a call: a result belongs in a message of the user.`,
    )
}

function requireNew(id: string, place: number, earlier: number | undefined): void {
  if (earlier === undefined) return
  const where = earlier === place ? 'twice' : `, as does messages[${earlier}]`
  throw new UsageError(
    `messages[${place}] has a call with the id "${id}"${earlier === place ? ' ' : ''}${where}: give every call an id of its own, and its result the same id.`,
  )
}

function misplaced(
  id: string,
  place: number,
  called: number | undefined,
  messages: readonly OwnerMessage[],
): UsageError {
  if (called === undefined)
    return new UsageError(
      `messages[${place}] has the result of a call "${id}" that no message before it makes: keep the answer with that call, or send the result as a text.`,
    )
  const isAnswered = messages
    .slice(called + 1, place + 1)
    .some((message, i, { length }) => countResults(message, id) > (i === length - 1 ? 1 : 0))
  return new UsageError(
    isAnswered
      ? `messages[${place}] has a second result of the call "${id}" of messages[${called}]: join the two, or send the second as a text.`
      : `messages[${place}] has the result of the call "${id}" of messages[${called}], and another answer is between them: put the result right after the call, or send it as a text.`,
  )
}

function countResults(message: OwnerMessage, id: string): number {
  return blocksOf(message).filter((block) => resultIn(block) === id).length
}

function callsIn(message: OwnerMessage | undefined): readonly string[] {
  return blocksOf(message).flatMap((block) => callIn(block) ?? [])
}

function callIn(block: object): string | undefined {
  if (!('type' in block) || block.type !== 'tool_use' || !('id' in block)) return undefined
  return typeof block.id === 'string' ? block.id : undefined
}

function resultIn(block: object): string | undefined {
  if (!('type' in block) || block.type !== 'tool_result' || !('tool_use_id' in block)) return undefined
  return typeof block.tool_use_id === 'string' ? block.tool_use_id : undefined
}

function blocksOf(message: OwnerMessage | undefined): readonly object[] {
  const content = message?.content
  return typeof content === 'string' || content === undefined ? [] : content
}

function saysNothing({ content }: OwnerMessage): boolean {
  if (typeof content === 'string') return content.trim() === ''
  return content === undefined || content.every(isBlank)
}
