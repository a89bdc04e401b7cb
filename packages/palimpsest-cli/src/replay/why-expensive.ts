import type { MostExpensiveStep } from 'palimpsest/replay'

const MS_PER_MINUTE = 60_000
const MINUTES_PER_HOUR = 60
const MINUTES_SAID_MAX = 120

/** Why a step cost what it did, in a clause: what was written again, and what caused it. */
export function whyExpensive({ request, dollars }: Pick<MostExpensiveStep, 'request' | 'dollars'>): string {
  const { explanation, act, callDollars, idleMs, writtenTokens, outputTokens } = request
  if (callDollars > dollars / 2) return `$${callDollars.toFixed(2)} of it for its own call for a summary`
  const call = callDollars > 0 ? `, $${callDollars.toFixed(2)} for its own call` : ''
  const written = `${thousands(writtenTokens)} tokens written`
  switch (explanation.kind) {
    case 'changed':
    case 'expired':
      return idleMs > 0
        ? `${written} again: the cache had expired in a pause of ${timeOf(idleMs)}${MEANWHILE[act]}${call}`
        : `${written}, ${thousands(explanation.lostTokens)} lost from the cache: ${DONE[act]}${call}`
    case 'first':
    case 'minimum':
    case 'no-breakpoint':
      return `${written} for the first time: nothing was cached yet${call}`
    case 'lookback':
    case 'unreadable':
    case 'unwritten':
    case 'hit':
      return `${thousands(writtenTokens)} new tokens, and an answer of ${thousands(outputTokens)}${call}`
    default:
      return explanation satisfies never
  }
}

const MEANWHILE = {
  none: '',
  edit: ', which it used to edit',
  compaction: ', which it used to compact',
} as const

const DONE = {
  none: 'earlier messages changed',
  edit: 'it edited earlier messages',
  compaction: 'it compacted',
} as const

function thousands(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}K`
}

function timeOf(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / MS_PER_MINUTE))
  return minutes <= MINUTES_SAID_MAX ? `${minutes} min` : `${Math.round(minutes / MINUTES_PER_HOUR)} h`
}
