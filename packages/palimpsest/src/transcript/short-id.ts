import type { EntryId } from './entry.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** How many characters of an id are shown, and the fewest that identify an entry. */
export const SHORT_ID_CHARS = 8

/** The beginning of a long id distinguishes it from the others of a conversation. */
export function shortId(id: EntryId): string {
  return UUID.test(id) ? id.slice(0, SHORT_ID_CHARS) : id
}
