import { keyOf, type OwnerMessage } from '../context/owner-message.ts'
import { createContext, type Context, type ContextOptions } from '../context/library/create-context.ts'
import type { Hash } from '../wire/hash.ts'
import { requireWindow } from '../tokens/require-window.ts'

// One client may serve many conversations. A request belongs to the one whose history it continues, by content, or to the one that its
// caller names.

/** Most remembered conversations; beyond that, the least recently used one is closed. */
export const CONVERSATIONS_MAX = 100

interface Conversation {
  readonly context: Context
  readonly name: string | undefined
  /** Hashes of the messages of the last request. */
  keys: readonly Hash[]
  /** Set while a request is in progress; settles when its answer was observed. */
  underWay: Promise<void> | undefined
}

export interface Conversations {
  /** The conversation that a request belongs to, reserved for this request until it is released. */
  readonly take: (wish: ConversationWish) => Promise<HeldConversation>
}

export interface HeldConversation {
  readonly context: Context
  /** Call when the request has ended, in whichever way. */
  readonly release: () => void
}

export interface ConversationWish {
  readonly messages: readonly OwnerMessage[]
  readonly model: string
  readonly name?: string | undefined
}

export interface ConversationsSetup {
  readonly open: Omit<ContextOptions, 'model' | 'id'>
  readonly most: number
  readonly onOpen: ((context: Context, name: string | undefined) => void) | undefined
}

export function createConversations({ open, most, onOpen }: ConversationsSetup): Conversations {
  requireWindow(open.window)
  /** Least recently used first. */
  let known: readonly Conversation[] = []
  const begin = ({ model, name }: ConversationWish): Conversation => {
    const context = createContext({ ...open, model, ...(name === undefined ? {} : { id: name }) })
    onOpen?.(context, name)
    return { context, name, keys: [], underWay: undefined }
  }
  return {
    take: async (wish) => {
      const keys = wish.messages.map(keyOf)
      let found = findFor(known, keys, wish.name)
      // A caller that has the answer already waits until it is observed; one that asks in parallel is another conversation.
      while (found?.underWay && keys.length > found.keys.length) {
        await found.underWay
        found = findFor(known, keys, wish.name)
      }
      // A conversation that is stored under a name has one writer.
      const conversation =
        found && !found.underWay ? found : begin(found ? { ...wish, name: undefined } : wish)
      conversation.keys = keys
      const release = start(conversation)
      const others = known.filter((one) => one !== conversation)
      const idle = others.filter(({ underWay }) => !underWay)
      const old = idle.slice(0, Math.max(0, others.length + 1 - most))
      known = [...others.filter((one) => !old.includes(one)), conversation]
      for (const { context } of old) await context.close()
      return { context: conversation.context, release }
    },
  }
}

/** Until the returned function is called, a request of the conversation is in progress. */
function start(conversation: Conversation): () => void {
  let end: () => void = () => undefined
  conversation.underWay = new Promise((resolve) => {
    end = resolve
  })
  return () => {
    conversation.underWay = undefined
    end()
  }
}

function findFor(
  known: readonly Conversation[],
  keys: readonly Hash[],
  name: string | undefined,
): Conversation | undefined {
  if (name !== undefined) return known.findLast((one) => one.name === name)
  let best: Conversation | undefined
  let most = 0
  for (const one of known) {
    if (one.name !== undefined) continue
    const shared = sharedCount(one.keys, keys)
    if (shared < most || !isSame(one.keys, keys, shared)) continue
    best = one
    most = shared
  }
  return best
}

function sharedCount(a: readonly Hash[], b: readonly Hash[]): number {
  const differs = a.findIndex((key, place) => b[place] !== key)
  return differs < 0 ? a.length : differs
}

/** Two conversations may begin alike: to be the same one, they must share an answer, or everything that one of them has. */
function isSame(known: readonly Hash[], keys: readonly Hash[], shared: number): boolean {
  return shared > 0 && (shared >= 2 || shared === known.length || shared === keys.length)
}
