import { conversationTokens } from '../wire/usage.ts'
import type { Entry } from './entry.ts'

// Sums that lines of messages carry, up to and with themselves: a list of sessions then reads only the ends of files.

export interface Totals {
  /** Message lines in the file, sidechains apart. */
  readonly messages: number
  /** What the conversation holds after the newest answer. */
  readonly tokens: number
  readonly costUsd: number
}

const TOTALS =
  /"palimpsest":\{(?:"at":[^,]+,)?"totals":\{"messages":(\d+),"tokens":([\d.e+]+),"costUsd":([\d.e+-]+)\}/

/** The sums in a line of ours, from its first bytes. */
export function totalsInHead(head: string): Totals | undefined {
  const match = TOTALS.exec(head)
  return match
    ? { messages: Number(match[1]), tokens: Number(match[2]), costUsd: Number(match[3]) }
    : undefined
}

export const NO_TOTALS: Totals = { messages: 0, tokens: 0, costUsd: 0 }

/** The sums with one more entry. `costUsd` is the entry's own. */
export function addToTotals(totals: Totals, entry: Entry, costUsd: number): Totals {
  if (entry.sidechain) return totals
  if (entry.kind === 'boundary') return { ...totals, tokens: entry.meta.postTokens ?? totals.tokens }
  if (entry.kind === 'spent') return { ...totals, costUsd: totals.costUsd + costUsd }
  // A copy was counted, and paid for, as the message it repeats.
  if (entry.kind !== 'message' || entry.part === 'kept') return totals
  return {
    messages: totals.messages + 1,
    tokens: entry.usage ? conversationTokens(entry.usage) : totals.tokens,
    costUsd: totals.costUsd + costUsd,
  }
}
