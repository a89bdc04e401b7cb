// The text that represents a result on disk. It is written when the result is stored, and read when this text itself leaves the view, so
// that the path is not lost.

const OPENING = '<persisted-output>'
const CLOSING = '\n</persisted-output>'
const STORED = ' It is stored whole in '
/** The short form, if there is no room for a sentence. */
const BARE = /^\[(\d{1,15} characters), stored in ([^\n]+)\]$/
/** The form that earlier versions wrote. */
const EARLIER = /^(\d{1,15} (?:chars|characters))(?::|(?:, stored)? in) (.+)$/

export function renderPersisted(stored: {
  /** A sentence. */
  readonly size: string
  readonly path: string
  /** Text after the path. */
  readonly rest: string
}): string {
  return `${OPENING}\n${stored.size}${STORED}${stored.path}${stored.rest}${CLOSING}`
}

/** The path of the stored result; undefined if the text represents none. */
export function findPersistedPath(text: string): string | undefined {
  return findPersisted(text)?.path
}

/** The same text reduced to size and path; undefined if it contains nothing else. */
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

/** The same text with a replacement from the mark on, made from the text around the mark; undefined if the text has no such mark. */
export function withElse(
  text: string,
  mark: string,
  makeElse: (parts: { readonly before: string; readonly after: string }) => string,
): string | undefined {
  const at = findPersisted(text) ? text.indexOf(mark) : -1
  if (at < 0) return undefined
  const before = text.slice(0, at)
  const after = text.slice(at + mark.length, text.endsWith(CLOSING) ? -CLOSING.length : undefined)
  return `${before}${makeElse({ before, after })}${CLOSING}`
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
