import type { History } from '../ports.ts'
import { messageText } from '../recall/entry-text.ts'
import {
  appendEntries,
  appendTo,
  messageBody,
  placed,
  type AppendPorts,
  type EntryBody,
  type Session,
} from '../situation/session.ts'
import type { Situation } from '../situation/situation.ts'
import { sizeOf } from '../situation/size-of.ts'
import { isRemoval, type BlockRef, type Entry, type EntryId } from '../transcript/entry.ts'
import { step, viewOf, type View } from '../transcript/view.ts'
import { toBlocks } from '../wire/message.ts'

// Undo, pin and restore: entries that change what is in view. Each first checks the result; a change after which the conversation would not
// fit is not made. Outcomes are data: the caller chooses the words.

export interface ViewChanges {
  /** Undoes a compaction or a clearing. Keeps everything that came after it. */
  readonly undo: (id: EntryId) => Promise<UndoOutcome>
  /** Pins blocks, or unpins them: all or none. A pinned block is never cleared and survives every compaction word for word. */
  readonly pin: (targets: readonly PinTarget[], on: boolean) => Promise<PinOutcome>
  /** Restores something that left the view: word for word, at the end, so that nothing before it changes. */
  readonly restore: (id: string) => Promise<RestoreOutcome>
}

interface TooLarge {
  readonly kind: 'too-large'
  /** How many tokens the conversation would hold, and how many it may hold. */
  readonly tokens: number
  readonly limitTokens: number
}

export type UndoOutcome =
  | { readonly kind: 'undone'; readonly id: EntryId; readonly tokens: number; readonly limitTokens: number }
  | TooLarge
  | { readonly kind: 'undone-already'; readonly id: EntryId }
  /** `server`: the provider clears it with every request. `stored`: a result on disk, for `restore`. */
  | { readonly kind: 'no-removal'; readonly what: 'server' | 'stored' | 'other' }

/** A whole message, one of its blocks, or everything that a clearing removed. */
export interface PinTarget {
  readonly entry: EntryId
  readonly index?: number | undefined
}

export type PinOutcome =
  | { readonly kind: 'pinned'; readonly blocks: readonly BlockRef[] }
  | { readonly kind: 'not-in-view'; readonly target: PinTarget }
  | { readonly kind: 'no-such-block'; readonly target: PinTarget; readonly blocks: number }

export type RestoreOutcome =
  | { readonly kind: 'restored'; readonly chars: number; readonly tokens: number }
  | TooLarge
  /** It is a whole compaction: undo it instead. */
  | { readonly kind: 'is-compaction'; readonly id: EntryId }
  | { readonly kind: 'nothing' }

export interface ChangeSetup {
  readonly ports: AppendPorts
  readonly history: History
  /** How the view is measured. */
  readonly situation: (session: Session) => Pick<Situation, 'thinking' | 'calibration' | 'thresholds'>
}

/** The owner of the session. */
export interface SessionHolder {
  readonly get: () => Session
  /** Sets a session that grew at its end. */
  readonly grow: (session: Session) => void
  /** Sets a session whose earlier content changed. */
  readonly replace: (session: Session) => void
}

export function changesOf(holder: SessionHolder, setup: ChangeSetup): ViewChanges {
  return {
    undo: async (id) => await undo(id, holder, setup),
    pin: async (targets, on) => await pin(targets, on, holder, setup),
    restore: async (id) => await restore(id, holder, setup),
  }
}

/** The same for a session without a running conversation. */
export function changeSession(begin: Session, setup: ChangeSetup): ViewChanges {
  let session = begin
  const set = (changed: Session): void => {
    session = changed
  }
  return changesOf({ get: () => session, grow: set, replace: set }, setup)
}

async function undo(id: EntryId, holder: SessionHolder, setup: ChangeSetup): Promise<UndoOutcome> {
  const session = holder.get()
  const target = await findEntry(id, session, setup)
  const isServers = target?.kind === 'edit' && target.cause === 'server'
  if (!target || isServers || !isRemoval(target))
    return { kind: 'no-removal', what: isServers ? 'server' : target?.kind === 'stored' ? 'stored' : 'other' }
  if (session.view.log.some((entry) => entry.kind === 'void' && entry.target === target.id))
    return { kind: 'undone-already', id: target.id }
  const tried = await tryWith([{ kind: 'void', target: target.id }], session, setup)
  if (tried.kind === 'too-large') return tried
  // The undone entry may be outside the part that was loaded.
  holder.replace({ ...session, view: tried.view })
  return { kind: 'undone', id: target.id, tokens: tried.tokens, limitTokens: tried.limitTokens }
}

async function pin(
  targets: readonly PinTarget[],
  on: boolean,
  holder: SessionHolder,
  setup: ChangeSetup,
): Promise<PinOutcome> {
  const session = holder.get()
  const blocks: BlockRef[] = []
  for (const target of targets) {
    const found = await blocksOf(target, session, setup)
    if ('kind' in found) return found
    blocks.push(...found.blocks)
  }
  const pins = blocks.map((target) => ({ kind: 'pin', target, on }) as const)
  const { session: pinned } = await appendTo(session, pins, setup.ports)
  holder.grow(pinned)
  return { kind: 'pinned', blocks }
}

async function blocksOf(
  target: PinTarget,
  session: Session,
  setup: ChangeSetup,
): Promise<{ readonly blocks: readonly BlockRef[] } | Exclude<PinOutcome, { kind: 'pinned' }>> {
  const entry = await findEntry(target.entry, session, setup)
  if (entry?.kind === 'edit') return { blocks: entry.replace.map(({ at }) => at) }
  const isInView = session.view.nodes.some(({ entries }) => entries.includes(entry?.id ?? ''))
  if (entry?.kind !== 'message' || !isInView) return { kind: 'not-in-view', target }
  const count = toBlocks(entry.message.content).length
  const { index } = target
  if (index === undefined)
    return { blocks: Array.from({ length: count }, (_, at) => ({ entry: entry.id, index: at })) }
  return index < count
    ? { blocks: [{ entry: entry.id, index }] }
    : { kind: 'no-such-block', target, blocks: count }
}

async function restore(id: string, holder: SessionHolder, setup: ChangeSetup): Promise<RestoreOutcome> {
  const session = holder.get()
  const entry = await findEntry(id, session, setup)
  if (entry?.kind === 'boundary') return { kind: 'is-compaction', id: entry.id }
  const text = entry ? await textOf(entry, session, setup) : await setup.history.blob({ path: id, bytes: 0 })
  if (text === undefined || text === '') return { kind: 'nothing' }
  const content = `Brought back from earlier in this conversation (${entry?.id ?? id}), word for word:\n\n${text}`
  const tried = await tryWith([messageBody({ role: 'user', content }, 'recall')], session, setup)
  if (tried.kind === 'too-large') return tried
  holder.grow({ ...session, view: tried.entries.reduce(step, session.view) })
  return { kind: 'restored', chars: text.length, tokens: tried.tokens }
}

async function textOf(entry: Entry, session: Session, setup: ChangeSetup): Promise<string | undefined> {
  if (entry.kind === 'message') return messageText(entry)
  if (entry.kind === 'stored') return await setup.history.blob(entry.blob)
  if (entry.kind === 'notes') return entry.text
  if (entry.kind !== 'edit') return undefined
  const ids = [...new Set([...entry.replace.map(({ at }) => at.entry), ...entry.drop])]
  const found = await Promise.all(ids.map(async (one) => await findEntry(one, session, setup)))
  return found.flatMap((one) => (one?.kind === 'message' ? [messageText(one)] : [])).join('\n\n')
}

interface Tried {
  readonly kind: 'fits'
  readonly tokens: number
  readonly limitTokens: number
  readonly entries: readonly Entry[]
  /** The view that the transcript gives with the entries. */
  readonly view: View
}

/** Appends only if the conversation then fits. */
async function tryWith(
  bodies: readonly EntryBody[],
  session: Session,
  { ports, history, situation }: ChangeSetup,
): Promise<TooLarge | Tried> {
  const { thresholds, ...sizing } = situation(session)
  const entries = placed(session.view, bodies, ports)
  const { entries: chain, from } = await history.load(entries)
  const view = viewOf(chain, from)
  const size = { tokens: sizeOf(view, sizing), limitTokens: thresholds.blocking }
  if (size.tokens >= size.limitTokens) return { kind: 'too-large', ...size }
  await appendEntries(entries, ports)
  return { kind: 'fits', ...size, entries, view }
}

/** In view, or long out of it. */
async function findEntry(
  id: EntryId,
  { view }: Session,
  { history }: ChangeSetup,
): Promise<Entry | undefined> {
  const loaded = view.log.find((entry) => entry.id === id)
  if (loaded) return loaded
  for await (const entry of history.entries((line) => line.includes(id))) if (entry.id === id) return entry
  return undefined
}
