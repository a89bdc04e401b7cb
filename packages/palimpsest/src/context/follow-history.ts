import { UsageError } from '../errors.ts'
import { appendTo, messageBody, placed, type EntryBody } from '../situation/session.ts'
import { titleBody } from '../situation/title.ts'
import type { Entry, EntryId, MessageEntry, Origin, PrefixEntry } from '../transcript/entry.ts'
import { viewOf, type View } from '../transcript/view.ts'
import { isBlock, toBlocks, type WireMessage } from '../wire/message.ts'
import { parseMessage } from '../wire/parse.ts'
import { problemText } from '../wire/shape.ts'
import { withoutMark } from './breakpoint-marks.ts'
import { carryOver, standInsFor } from './carry-over.ts'
import { grow, tipOf, type ContextSetup, type ContextState } from './context-state.ts'
import { keyOf, type OwnerMessage, type SeenMessage } from './owner-message.ts'
import { isSamePrefix } from './owner-prefix.ts'
import { childOf, pathTo, reconcile, type OwnerNode } from './owner-tree.ts'

// The transcript follows the owner's history. What he appended is appended. Where he edited, cut or returned, a branch begins at the last message
// that both have, and takes along what was decided about the messages before it.

export interface Followed {
  /** What the owner did since the last request. */
  readonly change: 'appended' | 'edited' | 'truncated' | 'returned'
  /** The first of his messages that the last request did not have in its place. */
  readonly from: number
  /** Entries of what is new. */
  readonly added: ReadonlySet<EntryId>
}

export async function followHistory(
  state: ContextState,
  {
    messages,
    prefix,
  }: { readonly messages: readonly OwnerMessage[]; readonly prefix: EntryBody<PrefixEntry> },
  setup: ContextSetup,
): Promise<Followed> {
  const { kept, regained, added } = reconcile(state.path, messages)
  const { path, session } = state
  const left = path.slice(kept + 1)
  const bodies = added.map((seen, i) => ownerBody(seen.object, kept + regained.length + i))
  const first = bodies[0]
  if (first && regained.length === 0) bodies[0] = withAnswer(first, left[0], session.view)
  const target = regained.at(-1) ?? path[kept]
  const leaf = regained.length === 0 ? leafBefore(state, bodies[0]) : undefined
  const isBranch = left.length > 0 || regained.length > 0 || leaf !== undefined
  if (isBranch && target) await switchTo(state, target, leaf ?? target.leaf, setup)
  const lead = leadOf(state.session.view, prefix, messages)
  if (lead.length > 0) grow(state, (await appendTo(state.session, lead, setup.ports)).session)
  const entries = await appendOwners(state, bodies, added, setup)
  if (isBranch) await keepStandIns(state, entries, { view: session.view, left }, setup)
  return { change: changeOf(left, regained, added), from: kept, added: new Set(entries.map(({ id }) => id)) }
}

/** System, tools and settings as they are from now on, and what the conversation is called. */
function leadOf(
  { prefix: had }: View,
  prefix: EntryBody<PrefixEntry>,
  messages: readonly OwnerMessage[],
): readonly EntryBody[] {
  if (isSamePrefix(had, prefix)) return []
  return had ? [prefix] : [prefix, titleBody(wordsOf(messages[0]))]
}

function wordsOf(message: OwnerMessage | undefined): string {
  const content = message?.content
  if (typeof content === 'string' || content === undefined) return content ?? ''
  return content
    .flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : []))
    .join('\n')
}

function changeOf(
  left: readonly OwnerNode[],
  regained: readonly OwnerNode[],
  added: readonly SeenMessage[],
): Followed['change'] {
  if (regained.length > 0) return 'returned'
  if (left.length === 0) return 'appended'
  return added.length === 0 ? 'truncated' : 'edited'
}

/** The same marker as behind a rewind: what follows it belongs to the branch, and the branch is the newest. */
async function switchTo(
  state: ContextState,
  target: OwnerNode,
  leaf: EntryId | null,
  { stored, ports }: ContextSetup,
): Promise<void> {
  const { session } = state
  const before = session.view
  const title = before.log.find((entry) => entry.kind === 'title')
  const marker = { kind: 'title', title: title?.title ?? '', firstPrompt: title?.firstPrompt ?? '' } as const
  await ports.transcript.append(placed({ ...before, leaf }, [marker], ports))
  const { entries, from } = await stored.history.load([])
  state.path = pathTo(target)
  // What was known of the cache is void.
  state.watch = undefined
  grow(state, { ...session, view: viewOf(entries, from) })
  const carried = carryOver(before, state.session.view, ports.newId)
  if (carried.length > 0) grow(state, (await appendTo(state.session, carried, ports)).session)
}

async function appendOwners(
  state: ContextState,
  bodies: readonly EntryBody<MessageEntry>[],
  added: readonly SeenMessage[],
  { ports }: ContextSetup,
): Promise<readonly Entry[]> {
  if (bodies.length === 0) return []
  const { session, entries } = await appendTo(state.session, bodies, ports)
  const path = [...state.path]
  for (const [i, entry] of entries.entries()) {
    const seen = added[i]
    const tip = path.at(-1)
    if (!seen || !tip) continue
    const node = childOf(tip, seen.key, entry.id)
    node.seen = seen
    path.push(node)
  }
  state.path = path
  grow(state, session)
  return entries
}

/** Messages that moved say what they said: what stood in the place of a block stands there again. */
async function keepStandIns(
  state: ContextState,
  entries: readonly Entry[],
  old: { readonly view: View; readonly left: readonly OwnerNode[] },
  { ports }: ContextSetup,
): Promise<void> {
  const twins = new Map<EntryId, EntryId>()
  const byKey = new Map(old.left.map((node) => [node.key, node.entry]))
  for (const entry of entries) {
    const twin = entry.kind === 'message' ? byKey.get(keyOf(entry.message)) : undefined
    if (twin) twins.set(twin, entry.id)
  }
  const bodies = standInsFor(old.view, twins)
  if (bodies.length > 0) grow(state, (await appendTo(state.session, bodies, ports)).session)
}

/** A result may come for a call that was taken to be interrupted: then the branch begins before that was said. */
function leafBefore(
  { session: { view }, path }: ContextState,
  body: EntryBody<MessageEntry> | undefined,
): EntryId | null | undefined {
  const answered = new Set(body ? resultIds(body.message) : [])
  if (answered.size === 0) return undefined
  const tip = tipOf({ path })?.entry
  const from = view.log.findLastIndex(({ id }) => id === tip)
  const said = view.log
    .slice(from + 1)
    .find(
      (entry) =>
        entry.kind === 'message' &&
        entry.part === 'interrupted' &&
        resultIds(entry.message).some((id) => answered.has(id)),
    )
  return said?.parent
}

function resultIds({ content }: WireMessage): readonly string[] {
  return toBlocks(content).flatMap((block) => (isBlock(block, 'tool_result') ? [block.tool_use_id] : []))
}

/** What the owner sends of an answer, without its thinking say, is still that answer: what it cost and how large it was is known. */
function withAnswer(
  body: EntryBody<MessageEntry>,
  replaced: OwnerNode | undefined,
  { log }: View,
): EntryBody<MessageEntry> {
  const answer = log.findLast((entry) => entry.id === replaced?.entry)
  if (answer?.kind !== 'message' || answer.usage === undefined || body.message.role !== 'assistant')
    return body
  const said = new Set(blockKeys(answer.message))
  if (!blockKeys(body.message).every((key) => said.has(key))) return body
  const { usage, responseId, requestId, model, under, sentEstimate } = answer
  const known = { usage, responseId, requestId, model, under, sentEstimate }
  return { ...body, ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) }
}

function blockKeys({ content }: WireMessage): readonly string[] {
  return toBlocks(content).map((block) => keyOf({ role: 'assistant', content: [block] }))
}

function ownerBody(message: OwnerMessage, place: number): EntryBody<MessageEntry> {
  const bare: unknown = withoutMarks(message)
  const parsed = parseMessage(bare)
  if (!parsed.ok)
    throw new UsageError(
      `messages[${place}] is no message of the Messages API: ${problemText(parsed.problem)}.`,
    )
  return messageBody(parsed.value, originOf(parsed.value))
}

/** Without breakpoints: where those stand is read from the owner's own objects. */
function withoutMarks(message: OwnerMessage): unknown {
  const { content } = message
  return typeof content === 'string' || content === undefined
    ? message
    : { ...message, content: content.map(withoutMark) }
}

function originOf({ role, content }: WireMessage): Origin {
  if (role === 'assistant') return 'model'
  const blocks = toBlocks(content)
  return blocks.length > 0 && blocks.every((block) => isBlock(block, 'tool_result')) ? 'tool' : 'user'
}
