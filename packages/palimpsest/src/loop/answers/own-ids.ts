import type { Entry } from '../../transcript/entry.ts'
import type { View } from '../../transcript/view.ts'
import { isBlock, toBlocks } from '../../wire/message.ts'
import { freeToolId, toolIdForm, withTail } from '../../wire/tool-id.ts'

// Ids that a conversation has not had. A call whose id was there before makes every later request invalid; an answer whose id was there before
// would be taken for a part of that one. So each gets one of its own as it comes in, before anything of it is stored.

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

/** Servers that draw their ids at random use more; those that count use fewer, and count anew. */
const RANDOM_ID_CHARS_MIN = 16
/** Of an id of ours: enough to be met once. */
const TAIL_CHARS = 8
/** An id of an answer is shown and compared; more is no id. */
const RESPONSE_ID_CHARS_MAX = 200

const hadByLog = new WeakMap<readonly Entry[], Had>()

/** For the next answer. Asking costs what was appended since. */
export function ownIds({ log, from }: Pick<View, 'log' | 'from'>, newId: () => string): OwnIds {
  const had = hadIn(log)
  const given = new Set<string>()
  const isTaken = (id: string): boolean => had.calls.has(id) || given.has(id)
  return {
    toolId: (id) => {
      // What stands before the boundary that loading began at is not known, and may come back into view.
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
