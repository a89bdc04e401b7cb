import type { Removal } from 'palimpsest/engine'
import type { MessageEntry } from 'palimpsest/transcript'
import { isBlock, isJsonObject, toBlocks } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import { ID_CHARS } from '../../stored/find-by-id.ts'
import { historyTexts } from '../../stored/history-texts.ts'
import { readHistory } from '../../stored/session-history.ts'
import type { PickItem } from '../input/pick-item.ts'
import { contextLines } from '../screen/context-lines.ts'
import { shortCount } from '../screen/status-line.ts'
import { toolLabel } from '../screen/tool-lines.ts'
import { pinEntry, restoreEntry, undoRemoval } from './change-view.ts'
import { note, type CommandPlace } from './command-place.ts'
import { findRemoved, openRemovalPage } from './open-pages.ts'

// What fills the window, and what was removed from it. The user can look at each removal, undo it, restore it at the end, or pin it.

const DONE = 'done'
const PIN = 'pin'
const LABEL_CHARS = 110
/** What removed it, by layer. */
const LAYERS = { 1: 'stored', 2: 'cleared', 3: 'notes', 4: 'compacted' } as const

export async function showContext(place: CommandPlace): Promise<undefined> {
  const { conversation, ui } = place
  if (conversation.log().length === 0) return note('nothing has been said yet: the window is empty', place)
  const description = conversation.describe()
  const read = await readHistory(conversation.prepared.opened.file.path, undefined)
  const history = historyTexts(read, description.breakers)
  const picture = { description, facts: conversation.facts, figures: conversation.figures(), history }
  ui.show(contextLines(picture, ui.columns()))
  const removals = description.removals.toReversed()
  for (;;) {
    const picked = await ui.pick({
      title:
        removals.length > 0
          ? 'Removed from the window, newest first: choose one to see, undo or restore it'
          : 'Nothing has been removed yet',
      items: [
        ...removals.map((removal) => ({ label: removalLabel(withoutPlace(removal)), value: removal.id })),
        { label: 'Pin a message: it stays through every compaction', letter: 'p', value: PIN },
        { label: 'Done', letter: 'd', value: DONE },
      ],
    })
    if (picked === undefined || picked === DONE) return undefined
    const removal = removals.find(({ id }) => id === picked)
    if (removal ? await actOn(removal, place) : await pinOne(place)) return undefined
  }
}

/** Undoes a removal that the user picks. */
export async function undoPicked(place: CommandPlace): Promise<undefined> {
  const { conversation, ui } = place
  const removals = conversation.describe().removals.filter(({ canUndo }) => canUndo)
  if (removals.length === 0) return note('nothing is left to undo', place)
  const items = removals.toReversed().map((removal) => ({ label: removalLabel(removal), value: removal.id }))
  const picked = await ui.pick({ title: 'Undo which removal? The newest comes first', items })
  if (picked !== undefined) await undoRemoval(picked, place)
  return undefined
}

/** Drops the path of a stored result: the list does not need it. */
function withoutPlace(removal: Removal): Removal {
  return removal.layer === 1 ? { ...removal, what: removal.what.replace(/ is in \S+$/, '') } : removal
}

function removalLabel({ id, at, layer, what, tokens }: Removal): string {
  const when = Number.isFinite(at) ? new Date(at).toTimeString().slice(0, 5) : '     '
  return toPrintable(
    `${when} ${LAYERS[layer].padEnd(9)} ${shortCount(tokens).padStart(6)}  ${what}  ${id.slice(0, ID_CHARS)}`,
  )
}

/** True if the view was changed; otherwise the list comes back. */
async function actOn(removal: Removal, place: CommandPlace): Promise<boolean> {
  const { conversation, ui } = place
  const { id, layer, canUndo } = removal
  const isCompaction = layer > 2
  const items: readonly PickItem[] = [
    ...(layer > 1 ? [{ label: 'Show what was removed', letter: 's', value: 'show' }] : []),
    ...(canUndo ? [{ label: 'Undo it', letter: 'u', value: 'undo' }] : []),
    {
      label: isCompaction ? 'Restore one message, at the end' : 'Restore it, at the end',
      letter: 'b',
      value: 'bring',
    },
    ...(layer === 2
      ? [{ label: 'Pin what it cleared: it is not cleared again', letter: 'p', value: 'pin' }]
      : []),
  ]
  const action = await ui.pick({ title: removalLabel(removal), items })
  switch (action) {
    case 'show':
      await ui.page(await openRemovalPage(conversation, id, ui.columns()))
      return false
    case 'undo':
      return await undoRemoval(id, place)
    case 'pin':
      return await pinEntry(id, place)
    case 'bring':
      return isCompaction ? await bringOne(id, place) : await restoreEntry(id, place)
    default:
      return false
  }
}

async function bringOne(id: string, place: CommandPlace): Promise<boolean> {
  const { gone } = await findRemoved(place.conversation, id)
  const picked = await pickMessage('Restore which message?', gone, place)
  return picked !== undefined && (await restoreEntry(picked, place))
}

async function pinOne(place: CommandPlace): Promise<boolean> {
  const { nodes, log } = place.conversation.view()
  const inView = new Set(nodes.flatMap(({ entries }) => entries))
  const messages = log.filter(
    (entry): entry is MessageEntry =>
      entry.kind === 'message' && inView.has(entry.id) && entry.part === undefined,
  )
  const picked = await pickMessage('Pin which message?', messages, place)
  return picked !== undefined && (await pinEntry(picked, place))
}

async function pickMessage(
  title: string,
  messages: readonly MessageEntry[],
  { ui }: CommandPlace,
): Promise<string | undefined> {
  const items = messages.toReversed().map((entry) => ({ label: messageLabel(entry), value: entry.id }))
  return await ui.pick({ title, items, isSearched: true })
}

/** Who wrote it, and the first words. */
function messageLabel({ message }: MessageEntry): string {
  const words = toBlocks(message.content).flatMap((block) => {
    if (isBlock(block, 'text')) return [block.text]
    if (isBlock(block, 'tool_use'))
      return [toolLabel(block.name, isJsonObject(block.input) ? block.input : {})]
    if (!isBlock(block, 'tool_result')) return []
    const texts = toBlocks(block.content).flatMap((part) => (isBlock(part, 'text') ? [part.text] : []))
    return [`result: ${texts.join(' ')}`]
  })
  const text = words
    .join(' ')
    .slice(0, 4 * LABEL_CHARS)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return toPrintable(`${message.role === 'user' ? 'user ' : 'model'}  ${text.slice(0, LABEL_CHARS)}`)
}
