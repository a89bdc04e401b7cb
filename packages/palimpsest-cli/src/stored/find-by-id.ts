import { UsageError } from 'palimpsest'

// Screens show the first characters of an id, and every command accepts them.

/** Characters of an id on a screen, and the fewest that identify one. */
export const ID_CHARS = 8

/** How many ids with the same start are listed; the others are counted. */
const TOLD_MAX = 5

export interface Identified {
  readonly id: string
  /** What tells it apart from others with the same start. */
  readonly about?: string
}

/** The item with that id, otherwise the only one whose id begins with it. Undefined if there is none; throws if there are several. */
export function findById<Of extends Identified>(
  typed: string,
  all: readonly Of[],
  /** The plural noun for the error: `sessions`. */
  kind: string,
): Of | undefined {
  const exact = all.find(({ id }) => id === typed)
  if (exact || typed.length < ID_CHARS) return exact
  const alike = all.filter(({ id }) => id.startsWith(typed))
  const distinct = [...new Map(alike.map((one) => [one.id, one])).values()]
  if (distinct.length <= 1) return alike[0]
  const told = distinct
    .slice(0, TOLD_MAX)
    .map(({ id, about }) => (about === undefined ? id : `${id} (${about})`))
  const more = distinct.length > TOLD_MAX ? [`${distinct.length - TOLD_MAX} more`] : []
  throw new UsageError(
    `"${typed}" matches ${distinct.length} ${kind}: ${[...told, ...more].join(', ')}. Give more characters of the id`,
  )
}
