import type { SessionTask } from './session-task.ts'

// Which session is replayed when. The report does not depend on it.

/** Long enough that something has left a window, and soon done: about a hundred thousand tokens, and three seconds. */
const FIRST_LOOK_BYTES = 1_000_000
const FIRST_LOOK_AMONG = 10

/** In their order, but for one of the first: the smallest that is long enough, where none is the longest. Whoever waits sees its figures. */
export function firstLookFirst(tasks: readonly SessionTask[]): readonly SessionTask[] {
  const among = largestFirst(tasks.slice(0, FIRST_LOOK_AMONG))
  const look = among.findLast(({ file }) => file.bytes >= FIRST_LOOK_BYTES) ?? among[0]
  return look ? [look, ...tasks.filter((task) => task !== look)] : tasks
}

/** So that no thread is left alone with a large one at the end. */
export function largestFirst(tasks: readonly SessionTask[]): readonly SessionTask[] {
  return tasks.toSorted((a, b) => b.file.bytes - a.file.bytes || a.index - b.index)
}
