import { ProviderError } from '../../errors.ts'

// A provider receives the conversation and the key. A redirect would send both to whatever address the answer names, and clients follow it
// silently.

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** These repeat the request, including its body. */
const REPEATING: ReadonlySet<number> = new Set([307, 308])
/** A server that moved a path redirects once; more is a loop. */
const REDIRECTS_MAX = 3

/** A fetch that follows redirects only within the same origin. Any other redirect becomes an error that says where it leads. */
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

/** Outside Node, a redirect comes without a status. */
function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || REDIRECTS.has(status)
}

/** A request without a body may be repeated whatever the status; one with a body only unchanged. */
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
    ? 'If that is the right address, make it the base URL.'
    : 'Check the path of the base URL.'
  return new ProviderError(
    { kind: 'invalid-request', status },
    `${from} answers with a redirect to ${to}, and Palimpsest does not send the conversation there. ${cure}`,
  )
}
