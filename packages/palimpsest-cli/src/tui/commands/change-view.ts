import { toPrintable } from '../../agent/printable.ts'
import { pinnedText, restoredText, undoneText } from '../../stored/change-texts.ts'
import { note, type CommandPlace } from './command-place.ts'

// What `/undo` and the list of `/context` change in the view: the conversation does it, and goes on. What the user typed or picked is
// a whole id here. True: it was told what became of it.

export async function undoRemoval(id: string, place: CommandPlace): Promise<true> {
  return tell(undoneText(await place.conversation.undo(id), id).text, place)
}

export async function pinEntry(id: string, place: CommandPlace): Promise<true> {
  return tell(pinnedText(await place.conversation.pin([{ entry: id }], true), true).text, place)
}

export async function restoreEntry(id: string, place: CommandPlace): Promise<true> {
  return tell(restoredText(await place.conversation.restore(id), id).text, place)
}

function tell(text: string, place: CommandPlace): true {
  note(toPrintable(text), place)
  return true
}
