import { UsageError } from '../../errors.ts'
import { hashText, type Hash } from '../../wire/hash.ts'
import { CONVERSATIONS_MAX, createConversations } from '../conversations.ts'
import { OWN_OPTIONS, type AiMessage } from './ai-message.ts'
import { toJson } from './carry-data.ts'
import { fromWire } from './from-wire.ts'
import type { AiSdkOptions } from './palimpsest.ts'
import { toWire } from './to-wire.ts'

// For the loops of the AI SDK: `prepareStep` may return other messages, and these carry forward. So what we returned comes back as the
// beginning of the next step's messages and has to be recognized: the history that it stands for is the one that is managed.

/** What a loop passes before each step, as far as we read it. */
export interface Step<Message> {
  readonly messages: Message[]
  readonly model: string | { readonly modelId: string }
}

export type PrepareStep = <Message extends AiMessage>(step: Step<Message>) => Promise<{ messages: Message[] }>

/** What was returned, and the history that it represents. */
interface Returned {
  readonly keys: readonly Hash[]
  readonly history: readonly AiMessage[]
}

const OUTPUT_TOKENS = 4_096

/**
 * Creates a `prepareStep` for `generateText`, `streamText` and `ToolLoopAgent`: the messages of each step fit the window.
 *
 * @example
 * const agent = new ToolLoopAgent({ model, tools, prepareStep: prepareStep({ window: 60_000 }) })
 */
export function prepareStep(options: AiSdkOptions = {}): PrepareStep {
  const { conversation: name, conversationsMax, ...open } = options
  const most = conversationsMax ?? CONVERSATIONS_MAX
  const conversations = createConversations({ open, most, onOpen: undefined })
  let returned: readonly Returned[] = []
  return async ({ messages: given, model: named }) => {
    const model = typeof named === 'string' ? named : named.modelId
    const known = returned.findLast(({ keys }) => begins(given, keys))
    const history = known ? [...known.history, ...given.slice(known.keys.length)] : given
    const { system, messages } = toWire(history)
    const { context, release } = await conversations.take({ messages, model, name })
    try {
      const input = { model, system, messages, max_tokens: OUTPUT_TOKENS }
      const { request } = await context.prepare(input)
      const prepared = marked(fromWire(request.messages, request.system))
      returned = [...returned.filter((one) => one !== known), { keys: prepared.map(keyOf), history }].slice(
        -most,
      )
      return { messages: prepared.filter((message) => isLike(message, given)) }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      // What cannot be managed goes unchanged.
      options.onTrace?.({ name: 'request-unmanaged', reason: error.message })
      return { messages: given }
    } finally {
      release()
    }
  }
}

function begins(given: readonly AiMessage[], keys: readonly Hash[]): boolean {
  return (
    keys.length <= given.length &&
    keys.every((key, place) => {
      const message = given[place]
      return message !== undefined && keyOf(message) === key
    })
  )
}

const keys = new WeakMap<AiMessage, Hash>()

/** A message that comes back is usually the same object. */
function keyOf(message: AiMessage): Hash {
  const known = keys.get(message) ?? hashText(JSON.stringify(toJson(message)))
  keys.set(message, known)
  return known
}

/** Marks the messages, so that our own middleware leaves them as they are. */
function marked([first, ...rest]: readonly AiMessage[]): readonly AiMessage[] {
  if (!first) return rest
  return [
    { ...first, providerOptions: { ...first.providerOptions, [OWN_OPTIONS]: { prepared: true } } },
    ...rest,
  ]
}

/** The door to the caller's type: the AI SDK's messages in the caller's version. */
function isLike<Message extends AiMessage>(
  message: AiMessage,
  _given: readonly Message[],
): message is Message {
  return message.content.length >= 0
}
