import type { ContextOptions } from '../../context/library/create-context.ts'
import { UsageError } from '../../errors.ts'

/** Our own calls go through the client as it was given, so that nothing manages them. */
export function senderOf(client: object): NonNullable<ContextOptions['send']> {
  return async (request, options) => {
    if (!canSend(client)) throw new UsageError('This client has no `messages.create`.')
    // `betas` are a header, not part of this body.
    const { betas, ...body } = { betas: undefined, ...request }
    const named: unknown = betas
    const isNamed = Array.isArray(named) && named.length > 0
    const headers = isNamed ? { ...options.headers, 'anthropic-beta': named.join(',') } : options.headers
    return await client.messages.create(body, { ...options, headers })
  }
}

interface SendingClient {
  readonly messages: { create(request: object, options: object): Promise<object> }
}

function canSend(client: object): client is SendingClient {
  if (!('messages' in client)) return false
  const { messages } = client
  return typeof messages === 'object' && messages !== null && 'create' in messages
}
