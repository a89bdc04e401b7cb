import type { Ports } from '../ports.ts'
import type { Entry, EntryId, MessageEntry, Origin } from '../transcript/entry.ts'
import { copyView, step, type View } from '../transcript/view.ts'
import type { JsonText } from '../wire/json.ts'
import type { WireMessage } from '../wire/message.ts'

// A session is a value: an id and the view of its transcript. One function appends (`appendEntries`), under others that also place and
// fold: what they return replaces what they were given.

export interface Session {
  readonly id: string
  readonly view: View
}

/** An entry without its place: id, parent and time are set when it is appended. */
export type EntryBody<T extends Entry = Entry> = T extends Entry ? Omit<T, 'id' | 'parent' | 'at'> : never

export interface Appended {
  readonly session: Session
  readonly entries: readonly Entry[]
}

export type AppendPorts = Pick<Ports, 'transcript' | 'newId'> & {
  readonly clock: Pick<Ports['clock'], 'now'>
}

/** A body. Its id is set if another one of the same batch names it. */
export type NamedBody<T extends Entry = Entry> = EntryBody<T> & { readonly id?: string }

/** On disk first, then in view. Entries are chained to the newest one and to each other. */
export async function appendTo(
  session: Session,
  bodies: readonly NamedBody[],
  ports: AppendPorts,
): Promise<Appended> {
  const entries = await appendAfter(session.view.leaf, bodies, ports)
  let view = session.view
  for (const entry of entries) view = step(view, entry)
  return { session: { ...session, view }, entries }
}

/** The one place that writes: entries that have their ids and parents. */
export async function appendEntries(
  entries: readonly Entry[],
  { transcript }: Pick<AppendPorts, 'transcript'>,
): Promise<readonly Entry[]> {
  await transcript.append(entries)
  return entries
}

/** After an entry that is not the newest, what is appended begins a branch, and the branch is then the newest: load the view again. */
export async function appendAfter(
  leaf: EntryId | null,
  bodies: readonly NamedBody[],
  ports: AppendPorts,
): Promise<readonly Entry[]> {
  return await appendEntries(placed({ leaf }, bodies, ports), ports)
}

/** The view as it would be afterwards. The given one stays as it is, and nothing is written. */
export function viewWith(view: View, bodies: readonly NamedBody[]): View {
  let made = 0
  const nowhere = { newId: () => `unwritten-${made++}`, clock: { now: () => 0 } }
  let after = copyView(view)
  for (const entry of placed(view, bodies, nowhere)) after = step(after, entry)
  return after
}

/** Bodies as entries after the newest one and after each other. Nothing is written. */
export function placed(
  { leaf }: Pick<View, 'leaf'>,
  bodies: readonly NamedBody[],
  ports: Pick<AppendPorts, 'newId' | 'clock'>,
): readonly Entry[] {
  let parent = leaf
  return bodies.map((body): Entry => {
    const entry: Entry = { ...body, id: body.id ?? ports.newId(), parent, at: ports.clock.now() }
    parent = entry.id
    return entry
  })
}

/** As `appendTo`, for one message, which is returned as an entry. */
export async function appendMessage(
  session: Session,
  body: EntryBody<MessageEntry>,
  ports: AppendPorts,
): Promise<{ readonly session: Session; readonly entry: MessageEntry }> {
  const entry: MessageEntry = { ...body, id: ports.newId(), parent: session.view.leaf, at: ports.clock.now() }
  await appendEntries([entry], ports)
  return { session: { ...session, view: step(session.view, entry) }, entry }
}

/** A message as it will be sent, with its text rendered once. */
export function messageBody(
  message: WireMessage,
  origin: Origin,
  more: Partial<Omit<MessageEntry, 'kind' | 'message' | 'origin'>> & { readonly json?: JsonText } = {},
): EntryBody<MessageEntry> {
  return { kind: 'message', origin, message, json: JSON.stringify(message), ...more }
}
