// Call ids match results to calls over a whole conversation and become file names. The API refuses ids that are empty, repeated, or contain
// anything except letters, digits, `_` and `-`. Not every server follows that.

/** One server refuses longer ids; other ids are shorter, or long only by chance. */
const TOOL_ID_CHARS_MAX = 40

const STAND_IN = 'call'

/** The id in a form that the API accepts. */
export function toolIdForm(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, TOOL_ID_CHARS_MAX) || STAND_IN
}

/** The id, or the next similar one that is not taken. */
export function freeToolId(id: string, isTaken: (id: string) => boolean): string {
  const plain = toolIdForm(id)
  let free = plain
  for (let i = 2; isTaken(free); i++) free = withTail(plain, String(i))
  return free
}

export function withTail(id: string, tail: string): string {
  return `${id.slice(0, TOOL_ID_CHARS_MAX - tail.length - 1)}-${tail}`
}
