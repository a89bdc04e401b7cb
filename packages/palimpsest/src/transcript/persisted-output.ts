// The text that stands for a result on disk. It is written when the result is stored, and read when what stands for it leaves the view
// in its turn: the path must not be lost.

const OPENING = '<persisted-output>'
const CLOSING = '\n</persisted-output>'
const STORED = ' It is stored whole in '
/** Where there is no room for a sentence. */
const BARE = /^\[(\d{1,15} characters), stored in ([^\n]+)\]$/
/** As earlier versions wrote it. */
const EARLIER = /^(\d{1,15} (?:chars|characters))(?::|(?:, stored)? in) (.+)$/

export function renderPersisted(stored: {
  /** A sentence. */
  readonly size: string
  readonly path: string
  /** What else there is to say. */
  readonly rest: string
}): string {
  return `${OPENING}\n${stored.size}${STORED}${stored.path}${stored.rest}${CLOSING}`
}

/** Where the result lies; undefined where the text stands for none. */
export function findPersistedPath(text: string): string | undefined {
  return findPersisted(text)?.path
}

/** The same text with nothing but size and path; undefined where that is all it has. */
export function withoutRest(text: string): string | undefined {
  const found = findPersisted(text)
  if (!found) return undefined
  const [, chars] = /(\d{1,15}) characters/.exec(found.size) ?? []
  const bare =
    chars === undefined
      ? renderPersisted({ ...found, rest: '' })
      : `[${chars} characters, stored in ${found.path}]`
  return bare.length < text.length ? bare : undefined
}

/** The same text with something else from a mark on, made of what stood there; undefined where it has no such mark. */
export function withElse(
  text: string,
  mark: string,
  makeElse: (parts: { readonly before: string; readonly behind: string }) => string,
): string | undefined {
  const at = findPersisted(text) ? text.indexOf(mark) : -1
  if (at < 0) return undefined
  const before = text.slice(0, at)
  const behind = text.slice(at + mark.length, text.endsWith(CLOSING) ? -CLOSING.length : undefined)
  return `${before}${makeElse({ before, behind })}${CLOSING}`
}

function findPersisted(text: string): { readonly size: string; readonly path: string } | undefined {
  const bare = BARE.exec(text)
  if (bare) return { size: bare[1] ?? '', path: bare[2] ?? '' }
  if (!text.startsWith(`${OPENING}\n`)) return undefined
  const line = text.slice(OPENING.length + 1, text.indexOf('\n', OPENING.length + 1))
  const at = line.indexOf(STORED)
  if (at >= 0) return { size: line.slice(0, at), path: line.slice(at + STORED.length) }
  const [, size, path] = EARLIER.exec(line) ?? []
  return size === undefined || path === undefined ? undefined : { size, path }
}
