import { UsageError } from 'palimpsest'

// Screens show the first characters of an id, and every command takes them.

/** What a screen shows of an id, and the least that stands for one. */
export const ID_CHARS = 8

/** So many ids that begin alike are told; the others are counted. */
const TOLD_MAX = 5

export interface Identified {
  readonly id: string
  /** What tells it from others that begin alike. */
  readonly about?: string
}

/** The one of that id, else the only one whose id begins so. Undefined where there is none; throws where there are several. */
export function findById<Of extends Identified>(
  typed: string,
  all: readonly Of[],
  /** As the sentence names them: `sessions`. */
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
    `"${typed}" begins the ids of ${distinct.length} ${kind}: ${[...told, ...more].join(', ')}. Give more of the id`,
  )
}
