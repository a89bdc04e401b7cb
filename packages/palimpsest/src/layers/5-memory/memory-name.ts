import { hashText } from '../../wire/hash.ts'

// A memory's name becomes a file name. Whatever it is made of, it cannot lead anywhere else.

export const NAME_CHARS_MAX = 80
const SLUG_CHARS_MAX = 48
const HASH_CHARS = 8

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/
/** Files and folders with another meaning next to the memories, and names that Windows reserves for devices. */
const RESERVED = /^(?:memory|logs|index|con|prn|aux|nul|com\d|lpt\d)$/i

/** Whether it can be the name of a memory's file as it is. */
export function isMemoryName(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && NAME.test(name) && !RESERVED.test(name)
}

/** A name made from any text: the same text gives the same name. */
export function toMemoryName(text: string): string {
  const slug = toSlug(text)
  const short = atWordEnd(slug).replace(/-$/, '')
  const hash = hashText(text).slice(0, HASH_CHARS)
  if (short === '') return `memory-${hash}`
  // The slug loses everything except Latin letters and digits: the hash tells such texts apart.
  const isWhole = short === slug && !/[^\p{ASCII}\p{M}]/u.test(text.normalize('NFKD'))
  const name = isWhole ? short : `${short}-${hash}`
  return isMemoryName(name) ? name : `${name}-${hash}`
}

/** Only this much of a text becomes part of a name. */
const TEXT_CHARS_MAX = 2000

/** How a name spells a text: in lower case, with dashes. */
export function toSlug(text: string): string {
  return text
    .slice(0, TEXT_CHARS_MAX)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .replace(/-$/, '')
}

function atWordEnd(slug: string): string {
  if (slug.length <= SLUG_CHARS_MAX) return slug
  const end = slug.lastIndexOf('-', SLUG_CHARS_MAX)
  return slug.slice(0, end > SLUG_CHARS_MAX / 2 ? end : SLUG_CHARS_MAX)
}

/** The name, or the first free one with a number after it. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name
  for (let number = 2; ; number++) if (!isTaken(`${name}-${number}`)) return `${name}-${number}`
}
