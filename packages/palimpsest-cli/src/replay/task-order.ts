import type { SessionTask } from './session-task.ts'

// The order in which sessions are replayed. The report does not depend on it.

/** Long enough that something has left a window, and soon done: about a hundred thousand tokens and three seconds. */
const FIRST_LOOK_BYTES = 1_000_000
const FIRST_LOOK_AMONG = 10

/**
 * In order, except that one of the first tasks goes first: the smallest that is long enough, otherwise the largest. The user sees its
 * figures while waiting.
 */
export function firstLookFirst(tasks: readonly SessionTask[]): readonly SessionTask[] {
  const among = largestFirst(tasks.slice(0, FIRST_LOOK_AMONG))
  const look = among.findLast(({ file }) => file.bytes >= FIRST_LOOK_BYTES) ?? among[0]
  return look ? [look, ...tasks.filter((task) => task !== look)] : tasks
}

/** Largest first, so that no thread is left alone with a large one at the end. */
export function largestFirst(tasks: readonly SessionTask[]): readonly SessionTask[] {
  return tasks.toSorted((a, b) => b.file.bytes - a.file.bytes || a.index - b.index)
}
