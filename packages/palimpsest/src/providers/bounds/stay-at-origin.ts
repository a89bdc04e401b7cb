import { ProviderError } from '../../errors.ts'

// What goes to a provider is the conversation, and the key. A redirect would send both to whomever the answer names, and clients follow
// it without a word.

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** These ask for the same question again, with its body. */
const REPEATING: ReadonlySet<number> = new Set([307, 308])
/** A server that moved a path says so once; more is a circle. */
const REDIRECTS_MAX = 3

/** A fetch that follows redirects at the same origin alone. Any other one ends in an error that names where it leads. */
export function stayAtOrigin(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    let url = input instanceof Request ? input.url : String(input)
    let response = await send(input, { ...init, redirect: 'manual' })
    for (let followed = 0; isRedirect(response); followed++) {
      const target = URL.parse(response.headers.get('location') ?? 'none:', url)
      const isSame = target !== null && target.origin === URL.parse(url)?.origin
      if (!isSame || followed === REDIRECTS_MAX || !mayRepeat(response.status, input, init)) {
        await response.body?.cancel()
        throw leadsAway(url, target, response.status)
      }
      await response.body?.cancel()
      url = target.href
      response = await send(url, { ...init, redirect: 'manual' })
    }
    return response
  }
}

/** Elsewhere than in Node a redirect comes without a status. */
function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || REDIRECTS.has(status)
}

/** A question without a body may be put again whatever the status; one with a body only as it was. */
function mayRepeat(status: number, input: unknown, init: RequestInit | undefined): boolean {
  if (input instanceof Request) return false
  return (init?.method ?? 'GET') === 'GET' || (REPEATING.has(status) && typeof init?.body === 'string')
}

function leadsAway(url: string, target: URL | null, status: number): ProviderError {
  const from = URL.parse(url)?.origin ?? 'The server'
  const isElsewhere = target?.origin !== from
  const to =
    !target || target.origin === 'null' ? 'another address' : isElsewhere ? target.origin : 'another path'
  const cure = isElsewhere
    ? 'If it belongs there, make that the base URL.'
    : 'Check the path of the base URL.'
  return new ProviderError(
    { kind: 'invalid-request', status },
    `${from} answers with a redirect to ${to}, and the conversation is not sent on. ${cure}`,
  )
}
