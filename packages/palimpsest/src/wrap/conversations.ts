import { keyOf, type OwnerMessage } from '../context/owner-message.ts'
import { createContext, type Context, type ContextOptions } from '../context/library/create-context.ts'
import type { Hash } from '../wire/hash.ts'
import { requireWindow } from '../tokens/require-window.ts'

// One client may serve many conversations. A request belongs to the one whose history it continues, by content; or to the one that its
// caller names.

/** So many are remembered; of more, the one that was not heard of for longest is closed. */
export const CONVERSATIONS_MAX = 100

interface Conversation {
  readonly context: Context
  readonly name: string | undefined
  /** What each message of the last request said, and the answer to it where that is known. */
  keys: readonly Hash[]
  /** A request is under way; settles when its answer was taken in. */
  underWay: Promise<void> | undefined
}

export interface Conversations {
  /** The conversation that a request belongs to, for this request alone until it is released. */
  readonly take: (wish: ConversationWish) => Promise<HeldConversation>
}

export interface HeldConversation {
  readonly context: Context
  /** The request has come to its end, however it did. */
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
      // Whoever has the answer already waits for it to be taken in; whoever asks beside it is another conversation.
      while (found?.underWay && keys.length > found.keys.length) {
        await found.underWay
        found = findFor(known, keys, wish.name)
      }
      // Kept under a name, a conversation has one writer.
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

/** Until it is released, a request of the conversation is under way. */
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

/** Two beginnings may be alike: it takes an answer, or all that one of them has, to be the same conversation. */
function isSame(known: readonly Hash[], keys: readonly Hash[], shared: number): boolean {
  return shared > 0 && (shared >= 2 || shared === known.length || shared === keys.length)
}
