import { toPrintable } from '../agent/printable.ts'

/** A message of another agent, as a line of the screen: who, and what about. */
export function letterLine({ from, summary }: { readonly from: string; readonly summary: string }): string {
  return `${from}: ${toPrintable(summary).replaceAll('\n', ' ')}`
}
