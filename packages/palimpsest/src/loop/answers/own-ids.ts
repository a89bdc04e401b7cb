import type { Entry } from '../../transcript/entry.ts'
import type { View } from '../../transcript/view.ts'
import { isBlock, toBlocks } from '../../wire/message.ts'
import { freeToolId, toolIdForm, withTail } from '../../wire/tool-id.ts'

// Ids that are new to a conversation. A call that repeats an id makes every later request invalid; an answer that repeats an id would look
// like a part of the earlier one. So each gets an id of its own on arrival, before anything is stored.

export interface OwnIds {
  /** For a call. */
  readonly toolId: (id: string) => string
  /** For an answer. */
  readonly responseId: (id: string) => string
}

interface Had {
  readonly calls: Set<string>
  readonly responses: Set<string>
  read: number
}

/** Servers that generate random ids use more characters; those that count use fewer, and may start over. */
const RANDOM_ID_CHARS_MIN = 16
/** How many characters we add to an id: enough to make it unique. */
const TAIL_CHARS = 8
/** Longest response id, in characters. Ids are shown and compared; a longer one is no id. */
const RESPONSE_ID_CHARS_MAX = 200

const hadByLog = new WeakMap<readonly Entry[], Had>()

/** For the next answer. Each call costs only as much as was appended since the last one. */
export function ownIds({ log, from }: Pick<View, 'log' | 'from'>, newId: () => string): OwnIds {
  const had = hadIn(log)
  const given = new Set<string>()
  const isTaken = (id: string): boolean => had.calls.has(id) || given.has(id)
  return {
    toolId: (id) => {
      // What comes before the boundary where loading began is unknown, and may return to the view.
      const isShort = from !== null && id.length < RANDOM_ID_CHARS_MIN
      const wanted = isShort ? withTail(toolIdForm(id), newId().slice(0, TAIL_CHARS)) : id
      const own = freeToolId(wanted, isTaken)
      given.add(own)
      return own
    },
    responseId: (id) => {
      const plain = id.slice(0, RESPONSE_ID_CHARS_MAX) || newId()
      let own = plain
      for (let i = 2; had.responses.has(own); i++) own = `${plain}-${i}`
      return own
    },
  }
}

function hadIn(log: readonly Entry[]): Had {
  const had = hadByLog.get(log) ?? { calls: new Set(), responses: new Set(), read: 0 }
  hadByLog.set(log, had)
  for (; had.read < log.length; had.read++) {
    const entry = log[had.read]
    if (entry?.kind !== 'message') continue
    if (entry.responseId !== undefined) had.responses.add(entry.responseId)
    for (const block of toBlocks(entry.message.content))
      if (isBlock(block, 'tool_use')) had.calls.add(block.id)
  }
  return had
}
