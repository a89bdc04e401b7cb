import { toPrintable } from '../../agent/printable.ts'
import { pinnedText, restoredText, undoneText, type ChangeText } from '../../stored/change-texts.ts'
import { note, tell, type CommandPlace } from './command-place.ts'

// How `/undo` and the list of `/context` change the view. The conversation makes the change and continues. What the user typed or picked is
// a whole id here. `true`: the user was told the result.

export async function undoRemoval(id: string, place: CommandPlace): Promise<true> {
  return told(undoneText(await place.conversation.undo(id), id), place)
}

export async function pinEntry(id: string, place: CommandPlace): Promise<true> {
  return told(pinnedText(await place.conversation.pin([{ entry: id }], true), true), place)
}

export async function restoreEntry(id: string, place: CommandPlace): Promise<true> {
  return told(restoredText(await place.conversation.restore(id), id), place)
}

function told({ text, isDone }: ChangeText, place: CommandPlace): true {
  if (isDone) tell(toPrintable(text), place)
  else note(toPrintable(text), place)
  return true
}
