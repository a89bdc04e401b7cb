import { hashBytes } from '../files/hash-bytes.ts'

// Addresses for people, logs and files of ours. User, password, query and fragment of one may hold a token, and so may a part of its
// path that no person would write.

const HIDDEN = '…'
/** Parts of a path shorter than this are words. */
const TOKEN_CHARS_MIN = 20
const HASH_CHARS = 8
/** However many slashes, of either kind: those who read addresses are as patient. */
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?[/\\]+/i

/** As it was given, where there is nothing to hide. Takes what is no address, too: that is when it is shown most. */
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

/** Tells addresses apart without telling what is in them. */
export function urlName(given: string): string {
  const shown = shownUrl(given)
  return shown === given ? given : `${shown} ${hashBytes(Buffer.from(given)).slice(0, HASH_CHARS)}`
}

function isToken(part: string): boolean {
  return part.length >= TOKEN_CHARS_MIN && /\d/.test(part) && /[a-z]/i.test(part)
}
