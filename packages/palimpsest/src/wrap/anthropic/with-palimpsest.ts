import type { Context, ContextOptions } from '../../context/library/create-context.ts'
import { CONVERSATIONS_MAX, createConversations } from '../conversations.ts'
import { manageRequests } from './manage-requests.ts'
import { senderOf } from './sender-of.ts'

/** What a managed client may be told. All of it has a default. */
export interface PalimpsestOptions extends Pick<
  ContextOptions,
  'window' | 'store' | 'flags' | 'policy' | 'onTrace'
> {
  /** The client serves one conversation, of this name; with a store it is kept under it. Left out: conversations are told apart by content. */
  readonly conversation?: string | undefined
  /** Conversations that are remembered at once. Left out: 100. */
  readonly conversationsMax?: number | undefined
  /** Summaries are asked for from the same client, at its price. Left out: they are made without a model. */
  readonly asksModel?: boolean | undefined
  /** Told of each conversation as it begins: its context says what was taken out, and takes it back. */
  readonly onConversation?: ((context: Context, name: string | undefined) => void) | undefined
}

/** A client of `@anthropic-ai/sdk`, of either major. */
export interface ManageableClient {
  readonly middleware: readonly unknown[]
  withOptions(options: object): unknown
}

/**
 * The client you have, managed: requests for messages fit in the window, and read from the cache what the one before them carried. A
 * client of the same class with one more middleware; the given one stays as it is. One that is managed already is managed once, by the newest options.
 *
 * @example
 * const client = withPalimpsest(new Anthropic(), { window: 60_000 })
 */
export function withPalimpsest<Client extends ManageableClient>(
  client: Client,
  options: PalimpsestOptions = {},
): Client {
  const { conversation, conversationsMax, asksModel, onConversation, ...open } = options
  // Of a client that is managed already, the newest options count.
  const others = client.middleware.filter((one) => !isManager(one))
  const bare = others.length < client.middleware.length ? client.withOptions({ middleware: others }) : client
  if (!isLike(bare, client)) throw new TypeError(NO_CLIENT)
  const conversations = createConversations({
    open: asksModel ? { ...open, send: senderOf(bare) } : open,
    most: conversationsMax ?? CONVERSATIONS_MAX,
    onOpen: onConversation,
  })
  const manage = manageRequests({ conversations, conversation, onTrace: options.onTrace })
  // Innermost: what other middleware makes of a request is what is managed.
  const managed = bare.withOptions({ middleware: [...others, Object.assign(manage, { [MANAGER]: true })] })
  if (!isLike(managed, client)) throw new TypeError(NO_CLIENT)
  return managed
}

const NO_CLIENT = '`withOptions` of this client returns no client.'
/** On middleware of ours: two on one client would each shorten what the other sends. */
const MANAGER = Symbol('palimpsest')

function isManager(middleware: unknown): boolean {
  return typeof middleware === 'function' && MANAGER in middleware
}

/** A copy that a client makes of itself is of its own class. */
function isLike<Client extends object>(value: unknown, client: Client): value is Client {
  return typeof value === 'object' && value !== null && value.constructor === client.constructor
}
