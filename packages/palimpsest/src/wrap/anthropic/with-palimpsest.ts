import type { Context, ContextOptions } from '../../context/library/create-context.ts'
import { CONVERSATIONS_MAX, createConversations } from '../conversations.ts'
import { manageRequests } from './manage-requests.ts'
import { senderOf } from './sender-of.ts'

/** Options for a managed client. All of them have defaults. */
export interface PalimpsestOptions extends Pick<
  ContextOptions,
  'window' | 'store' | 'flags' | 'policy' | 'onTrace'
> {
  /**
   * The client serves a single conversation with this name; a store keeps it under this name. Absent: conversations are distinguished by
   * content.
   */
  readonly conversation?: string | undefined
  /** Most conversations that are remembered at the same time. Absent: 100. */
  readonly conversationsMax?: number | undefined
  /** True: summaries are requested from the same client, at its price. Absent: they are made without a model. */
  readonly asksModel?: boolean | undefined
  /** Called with each conversation as it begins: its context shows what was removed, and can undo it. */
  readonly onConversation?: ((context: Context, name: string | undefined) => void) | undefined
}

/** A client of `@anthropic-ai/sdk`, of either major version. */
export interface ManageableClient {
  readonly middleware: readonly unknown[]
  withOptions(options: object): unknown
}

/**
 * Manages the client that you have: requests for messages fit the window, and read from the cache what the previous request contained.
 * Returns a client of the same class with one more middleware; the given one stays as it is. A client that is managed already is managed
 * once, by the newest options.
 *
 * @example
 * const client = withPalimpsest(new Anthropic(), { window: 60_000 })
 */
export function withPalimpsest<Client extends ManageableClient>(
  client: Client,
  options: PalimpsestOptions = {},
): Client {
  const { conversation, conversationsMax, asksModel, onConversation, ...open } = options
  // For a client that is managed already, the newest options count.
  const others = client.middleware.filter((one) => !isManager(one))
  const bare = others.length < client.middleware.length ? client.withOptions({ middleware: others }) : client
  if (!isLike(bare, client)) throw new TypeError(NO_CLIENT)
  const conversations = createConversations({
    open: asksModel ? { ...open, send: senderOf(bare) } : open,
    most: conversationsMax ?? CONVERSATIONS_MAX,
    onOpen: onConversation,
  })
  const manage = manageRequests({ conversations, conversation, onTrace: options.onTrace })
  // Innermost, so that it manages what other middleware makes of a request.
  const managed = bare.withOptions({ middleware: [...others, Object.assign(manage, { [MANAGER]: true })] })
  if (!isLike(managed, client)) throw new TypeError(NO_CLIENT)
  return managed
}

const NO_CLIENT = '`withOptions` of this client returns no client.'
/** Marks our own middleware: two on one client would each shorten what the other sends. */
const MANAGER = Symbol('palimpsest')

function isManager(middleware: unknown): boolean {
  return typeof middleware === 'function' && MANAGER in middleware
}

/** A copy that a client makes of itself has the same class. */
function isLike<Client extends object>(value: unknown, client: Client): value is Client {
  return typeof value === 'object' && value !== null && value.constructor === client.constructor
}
