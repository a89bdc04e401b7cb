import { isIP } from 'node:net'

// A server on loopback answers anyone who can reach the socket, and every page in a browser can: through a name that an attacker's DNS
// resolves to 127.0.0.1, or with a request that is only possible because the user is logged in here. The user's own programs call by
// address or as localhost, and send no origin.

/** Why a request does not come from this machine's own programs; undefined if it does. `names`: further names of the server. */
export function whyForeign(
  request: Request,
  hostHeader: string | undefined,
  names: readonly string[],
): string | undefined {
  const { headers, url } = request
  const isOwn = (hostname: string): boolean => isOwnName(hostname) || names.includes(hostname)
  const named = [hostHeader === undefined ? undefined : URL.parse(`http://${hostHeader}`), URL.parse(url)]
  if (named.some((one) => one === null || (one !== undefined && !isOwn(one.hostname))))
    return `it is called by the name ${hostHeader ?? url}. Call it as localhost, or by its address`
  const origin = headers.get('origin')
  if (origin !== null && !isOwn(URL.parse(origin)?.hostname ?? ''))
    return `a page of ${origin} asks. Only pages of this machine may`
  return headers.get('sec-fetch-site') === 'cross-site' ? 'a page of another site asks' : undefined
}

/** There is no DNS between an address and its machine. */
function isOwnName(hostname: string): boolean {
  const plain = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(plain) !== 0 || plain === 'localhost' || plain.endsWith('.localhost')
}
