import { isIP } from 'node:net'

// A server on loopback answers whoever can reach the socket, and every page in a browser can: by a name that an attacker's DNS turns into
// 127.0.0.1, or by a request that carries nothing but the user's presence. Programs of the user call by address or as localhost, and
// send no origin.

/** Why a request is not one of this machine's own; undefined where it is. `names` are those that the server has besides. */
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

/** No DNS stands between an address and whoever is there. */
function isOwnName(hostname: string): boolean {
  const plain = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(plain) !== 0 || plain === 'localhost' || plain.endsWith('.localhost')
}
