import type { EntryId } from './entry.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** What texts show of an id, and the least that stands for one. */
export const SHORT_ID_CHARS = 8

/** The beginning of a long id tells it from the others of one conversation. */
export function shortId(id: EntryId): string {
  return UUID.test(id) ? id.slice(0, SHORT_ID_CHARS) : id
}
