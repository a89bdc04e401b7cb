// Ids of calls tell results apart over a whole conversation, become names of files, and are refused by the API where they are empty, repeated,
// or hold anything but letters, digits, `_` and `-`. Not every server knows that.

/** One maker of servers refuses longer ones; what others give is shorter, or long only by chance. */
const TOOL_ID_CHARS_MAX = 40

const STAND_IN = 'call'

/** The id as the API takes it. */
export function toolIdForm(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, TOOL_ID_CHARS_MAX) || STAND_IN
}

/** The id, or the next one like it that is not taken. */
export function freeToolId(id: string, isTaken: (id: string) => boolean): string {
  const plain = toolIdForm(id)
  let free = plain
  for (let i = 2; isTaken(free); i++) free = withTail(plain, String(i))
  return free
}

export function withTail(id: string, tail: string): string {
  return `${id.slice(0, TOOL_ID_CHARS_MAX - tail.length - 1)}-${tail}`
}
