import { toPrintable } from '../agent/printable.ts'

/** A message from another agent as a line of the screen: sender and summary. */
export function letterLine({ from, summary }: { readonly from: string; readonly summary: string }): string {
  return `${from}: ${toPrintable(summary).replaceAll('\n', ' ')}`
}
