import { hashBytes } from '../files/hash-bytes.ts'

// Addresses for people, logs and our own files. The user, password, query and fragment may contain a token, and so may a part of the path
// that no person would write.

const HIDDEN = '…'
/** Shorter parts of a path are words. */
const TOKEN_CHARS_MIN = 20
const HASH_CHARS = 8
/** Any number of slashes, of either kind: programs that read addresses accept them too. */
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?[/\\]+/i

/** Unchanged if there is nothing to hide. Also takes text that is no address: messages about wrong addresses show it most. */
export function shownUrl(given: string): string {
  const end = given.search(/[?#]/)
  const plain = end === -1 ? given : given.slice(0, end)
  const start = SCHEME.exec(plain)?.[0].length ?? 0
  const [authority = '', ...path] = plain.slice(start).split(/[/\\]/)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const shownHost = host === authority ? host : `${HIDDEN}@${host}`
  const parts = path.map((part) => (isToken(part) ? HIDDEN : part))
  const shown = `${plain.slice(0, start)}${[shownHost, ...parts].join('/')}`
  return end === -1 ? shown : `${shown}${given.charAt(end)}${HIDDEN}`
}

/** Tells addresses apart without revealing their secrets. */
export function urlName(given: string): string {
  const shown = shownUrl(given)
  return shown === given ? given : `${shown} ${hashBytes(Buffer.from(given)).slice(0, HASH_CHARS)}`
}

function isToken(part: string): boolean {
  return part.length >= TOKEN_CHARS_MIN && /\d/.test(part) && /[a-z]/i.test(part)
}
