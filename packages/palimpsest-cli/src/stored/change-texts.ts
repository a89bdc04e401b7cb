import { UsageError } from 'palimpsest'
import type { PinOutcome, RestoreOutcome, UndoOutcome } from 'palimpsest/conversation'
import type { BlockRef } from 'palimpsest/transcript'

// The result of a change to the view, in a sentence. An impossible request is a `UsageError`.

export interface ChangeText {
  readonly text: string
  readonly isDone: boolean
}

/** `typed`: the id as the user gave it. */
export function undoneText(outcome: UndoOutcome, typed: string): ChangeText {
  switch (outcome.kind) {
    case 'undone': {
      const { tokens, limitTokens } = outcome
      const text = `undone: the conversation holds ${tokens} tokens again; it is compacted automatically only at ${limitTokens}`
      return { text, isDone: true }
    }
    case 'too-large': {
      const { tokens, limitTokens } = outcome
      const text = `not undone: the conversation would hold ${tokens} tokens, and the limit is ${limitTokens}. A larger window (PALIMPSEST_WINDOW, the setting workingWindow) makes room`
      return { text, isDone: false }
    }
    case 'undone-already':
      return { text: `${outcome.id} is already undone`, isDone: false }
    case 'no-removal':
      throw new UsageError(`undo "${typed}": ${NO_REMOVAL[outcome.what]}`)
    default:
      return outcome satisfies never
  }
}

const NO_REMOVAL = {
  server: 'the provider clears it again with every request; to stop that, turn off the flag server-clearing',
  stored: 'it is a stored result, which stays on disk: `palimpsest restore` restores it',
  other: 'it is not a removal of this session; `palimpsest context` lists them',
} as const

export function pinnedText(outcome: PinOutcome, on: boolean, typed?: string): ChangeText {
  switch (outcome.kind) {
    case 'pinned': {
      const names = outcome.blocks.map(nameOf).join(', ')
      return { text: `${on ? 'pinned' : 'no longer pinned'}: ${names}`, isDone: true }
    }
    case 'not-in-view':
      throw new UsageError(
        `pin "${typed ?? outcome.target.entry}": no message in view has this id. To pin an older one, restore it first with \`palimpsest restore\``,
      )
    case 'no-such-block':
      throw new UsageError(
        `pin "${typed ?? outcome.target.entry}": the message has ${outcome.blocks} blocks, counted from 0`,
      )
    default:
      return outcome satisfies never
  }
}

function nameOf({ entry, index }: BlockRef): string {
  return `${entry}:${index}`
}

export function restoredText(outcome: RestoreOutcome, typed: string): ChangeText {
  switch (outcome.kind) {
    case 'restored': {
      const { chars, tokens } = outcome
      const text = `restored: ${chars} characters, at the end; the conversation holds ${tokens} tokens`
      return { text, isDone: true }
    }
    case 'too-large': {
      const { tokens, limitTokens } = outcome
      const text = `not restored: the conversation would hold ${tokens} tokens, and the limit is ${limitTokens}. Compact it first`
      return { text, isDone: false }
    }
    case 'is-compaction':
      throw new UsageError(
        `restore "${outcome.id}": this is a whole compaction. Undo it with \`palimpsest undo ${outcome.id}\`, or restore one of its messages by the message's id`,
      )
    case 'nothing':
      throw new UsageError(`restore "${typed}": nothing in this session has this id`)
    default:
      return outcome satisfies never
  }
}
