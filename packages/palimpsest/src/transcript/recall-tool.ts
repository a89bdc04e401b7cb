import type { EntryId, PrefixEntry } from './entry.ts'
import { shortId } from './short-id.ts'

// How stand-ins and summaries tell the model to get back what they replace. A text names the tool only if the model has it.

/** The tool with which a model sees again what left its view. */
export const RECALL_TOOL = 'Recall'
/** Between the first and the last id of a range of messages. */
export const RANGE_MARK = '..'

const OFFERED = `"name":"${RECALL_TOOL}"`

/** Whether the model has it: a conversation that began without it keeps its tools. */
export function offersRecall(prefix: Pick<PrefixEntry, 'tools'> | undefined): boolean {
  return prefix !== undefined && prefix.tools.includes(OFFERED)
}

/** `Recall id=1a2b3c4d`, or `Recall id=1a2b3c4d..5e6f7a8b`: a call in short form. */
export function recallOf(first: EntryId, last: EntryId = first): string {
  const range = first === last ? shortId(first) : `${shortId(first)}${RANGE_MARK}${shortId(last)}`
  return `${RECALL_TOOL} id=${range}`
}
