import { UsageError } from '../errors.ts'
import { appendAfter, appendTo, messageBody, type EntryBody } from '../situation/session.ts'
import { titleBody } from '../situation/title.ts'
import type { EditEntry, Entry, EntryId, MessageEntry, Origin, PrefixEntry } from '../transcript/entry.ts'
import type { ThinkingPolicy } from '../transcript/settle.ts'
import { viewOf, type View } from '../transcript/view.ts'
import { isBlock, isThinking, toBlocks, type WireMessage } from '../wire/message.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { parseMessage } from '../wire/parse.ts'
import { problemText } from '../wire/shape.ts'
import { withoutMark } from './block-marks.ts'
import type { OwnerMark } from './breakpoint-marks.ts'
import { carryOver, standInsFor } from './carry-over.ts'
import { grow, type ContextSetup, type ContextState } from './context-state.ts'
import { mended } from './owner-blocks.ts'
import { keyOf, type OwnerMessage, type SeenMessage } from './owner-message.ts'
import { isSamePrefix } from './owner-prefix.ts'
import {
  childOf,
  knownAs,
  markVisited,
  pathTo,
  reconcile,
  type OwnerNode,
  type Reconciled,
} from './owner-tree.ts'
import { requireHistory } from './require-history.ts'
import { hasThinking, noteThinking, withThinkingOrigin } from './thinking-origin.ts'

// The transcript follows the owner's history. What the owner appended is appended. If the owner edited, cut or returned, a branch begins at
// the last message that both have, and keeps what was decided about the messages before it.

/** What is needed to follow a history. */
export interface Following {
  readonly setup: ContextSetup
  readonly prefix: EntryBody<PrefixEntry>
  readonly thinking: ThinkingPolicy
  readonly facts: ModelFacts
}

export interface Followed {
  /** What the owner did since the last request. */
  readonly change: 'appended' | 'edited' | 'truncated' | 'returned'
  /** The first of the owner's messages that the last request did not have in its place. */
  readonly from: number
  /** Entries of the new messages. */
  readonly added: ReadonlySet<EntryId>
  /** Breakpoints that the owner set on the messages. */
  readonly marks: readonly OwnerMark[]
}

export async function followHistory(
  state: ContextState,
  messages: readonly OwnerMessage[],
  following: Following,
): Promise<Followed> {
  const { setup, prefix } = following
  const { known } = state
  const { kept, regained, added, marks, same } = await reconciled(state, messages, following)
  const change = changeOf(state.path.slice(kept + 1), regained, added)
  const returned = added.length > 0 ? newestAfter(regained.at(-1)) : undefined
  // An owner who returns and then says something else continues what he left there: its decisions count, not those made in between.
  if (returned) await switchTo(state, returned, returned.leaf, setup)
  const { path, session } = state
  const left = path.slice((returned ? kept + regained.length : kept) + 1)
  const bodies = added.map((seen, i) => ownerBody(seen.object, kept + regained.length + i))
  const target = regained.at(-1) ?? path[kept]
  const leaf = regained.length === 0 ? leafBefore(target, bodies[0], session.view) : undefined
  const isBranch = left.length > 0 || regained.length > 0 || leaf !== undefined
  if (isBranch && target) await switchTo(state, target, leaf ?? target.leaf, setup)
  const lead = leadOf(state.session.view, prefix, messages)
  if (lead.length > 0) grow(state, (await appendTo(state.session, lead, setup.ports)).session)
  const entries = await appendOwners(state, bodies, added, following)
  if (isBranch) await keepStandIns(state, entries, { view: session.view, left }, setup)
  state.known = knownAs(known, messages, same, marks)
  const ids = new Set(entries.map(({ id }) => id))
  return { change, from: kept, added: ids, marks }
}

/** The end of the history that its owner had last with this message in it; undefined if nothing came after it. */
function newestAfter(node: OwnerNode | undefined): OwnerNode | undefined {
  let newest: OwnerNode | undefined
  for (let next = node?.lastChild; next; next = next.lastChild) newest = next
  return newest
}

/** An owner who keeps an answer without its thinking keeps that answer: what was left out leaves the view, and nothing else changes. */
async function reconciled(
  state: ContextState,
  messages: readonly OwnerMessage[],
  { setup: { ports }, facts }: Following,
): Promise<Reconciled> {
  const found = reconcile(state.path, messages, state.known)
  const { kept, regained } = found
  requireHistory(messages, { kept, from: kept + regained.length }, state.calls, facts)
  // Unknown until the path is that of this history.
  state.known = undefined
  const tip = state.path.at(-1)
  const own = found.added[0]
  if (!tip?.parent || !own || found.regained.length > 0 || found.kept !== state.path.length - 2) return found
  const replace = leftOut(own.object, tip, state.session.view)
  if (replace.length === 0 || tip.entry === null) return found
  const edit = { kind: 'edit', cause: 'forced', replace, drop: [], freedTokens: 0 } as const
  const { session } = await appendTo(state.session, [edit], ports)
  const node = childOf(tip.parent, own.key, tip.entry)
  node.seen = own
  state.path[state.path.length - 1] = node
  grow(state, session)
  return { ...found, kept: found.kept + 1, added: found.added.slice(1) }
}

/** Removes the thinking of the newest answer if the owner's version lacks it; nothing if that version says something else. */
function leftOut(own: OwnerMessage, { entry }: OwnerNode, { nodes }: View): EditEntry['replace'] {
  const node = nodes.at(-1)
  if (own.role !== 'assistant' || node?.source.id !== entry) return []
  const blocks = typeof own.content === 'string' ? [{ type: 'text', text: own.content }] : (own.content ?? [])
  const said = node.blocks.filter(({ block }) => !isThinking(block)).map(({ block }) => block)
  if (keyOf({ role: 'assistant', content: blocks }) !== keyOf({ role: 'assistant', content: said })) return []
  return node.blocks.flatMap(({ at, block }) => (isThinking(block) ? [{ at, with: [] }] : []))
}

/** System, tools and settings from now on, and the title of a new conversation. */
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

/** The same marker as after a rewind: what follows it belongs to the branch, and the branch is the newest. */
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
  await appendAfter(leaf, [marker], ports)
  const { entries, from } = await stored.history.load([])
  state.path = pathTo(target)
  markVisited(state.path)
  // What we knew about the cache no longer holds.
  state.watch = undefined
  grow(state, { ...session, view: viewOf(entries, from) })
  const carried = carryOver(before, state.session.view, ports.newId)
  if (carried.length > 0) grow(state, (await appendTo(state.session, carried, ports)).session)
}

async function appendOwners(
  state: ContextState,
  bodies: readonly EntryBody<MessageEntry>[],
  added: readonly SeenMessage[],
  { setup, thinking }: Following,
): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  const { path } = state
  let { session } = state
  let batch: EntryBody<MessageEntry>[] = []
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return
    const appended = await appendTo(session, batch, setup.ports)
    session = appended.session
    entries.push(...appended.entries)
    batch = []
  }
  for (const body of bodies) {
    // What comes before thinking must be in view when the thinking is checked.
    const isThought = hasThinking(body.message)
    if (isThought) await flush()
    const known = isThought ? withThinkingOrigin(body, state.madeUnder, session.view, thinking) : body
    noteThinking(state.madeUnder, known)
    batch.push(known)
  }
  await flush()
  for (const [i, entry] of entries.entries()) {
    const seen = added[i]
    const tip = path.at(-1)
    if (!seen || !tip) continue
    const node = childOf(tip, seen.key, entry.id)
    node.seen = seen
    path.push(node)
  }
  grow(state, session)
  return entries
}

/** Messages that moved still say the same: a block that was replaced is replaced again. */
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

/** A result may come for a call that counted as interrupted: then the branch begins before that was said. */
function leafBefore(
  target: OwnerNode | undefined,
  body: EntryBody<MessageEntry> | undefined,
  { log }: View,
): EntryId | null | undefined {
  const answered = new Set(body ? resultIds(body.message) : [])
  const at = answered.size === 0 ? -1 : log.findLastIndex(({ id }) => id === target?.entry)
  if (at < 0) return undefined
  for (const entry of log.slice(at + 1)) {
    if (entry.kind !== 'message') continue
    if (entry.part !== 'interrupted') return undefined
    if (resultIds(entry.message).some((id) => answered.has(id))) return entry.parent
  }
  return undefined
}

function resultIds({ content }: WireMessage): readonly string[] {
  return toBlocks(content).flatMap((block) => (isBlock(block, 'tool_result') ? [block.tool_use_id] : []))
}

function ownerBody(message: OwnerMessage, place: number): EntryBody<MessageEntry> {
  const bare: unknown = withoutMarks(message)
  const parsed = parseMessage(bare)
  if (!parsed.ok)
    throw new UsageError(
      `messages[${place}] is not a message of the Messages API: ${problemText(parsed.problem)}.`,
    )
  return messageBody(parsed.value, originOf(parsed.value))
}

/** As it is sent, without breakpoints: those are read from the owner's own objects. */
function withoutMarks(message: OwnerMessage): unknown {
  const { content } = message
  return typeof content === 'string' || content === undefined
    ? message
    : { ...message, content: content.map((block) => withoutMark(mended(block))) }
}

function originOf({ role, content }: WireMessage): Origin {
  if (role === 'assistant') return 'model'
  const blocks = toBlocks(content)
  return blocks.length > 0 && blocks.every((block) => isBlock(block, 'tool_result')) ? 'tool' : 'user'
}
