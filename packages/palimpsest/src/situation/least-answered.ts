import { leftBy, type LeastAnswered } from './compaction-record.ts'
import type { Entry, MessageEntry, PrefixEntry } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { clearedTokens, promptTokens } from '../wire/usage.ts'

interface Scan {
  readonly read: number
  readonly prefix: PrefixEntry | undefined
  readonly least: LeastAnswered | undefined
}

const scans = new WeakMap<readonly Entry[], Scan>()

/**
 * The answered request with the smallest messages since the prefix in force. A log only grows, and an undo creates a new one, so only new
 * entries are read.
 */
export function leastAnswered({ log, prefix }: Pick<View, 'log' | 'prefix'>): LeastAnswered | undefined {
  const known = scans.get(log)
  let least = known?.prefix === prefix ? known?.least : undefined
  for (let i = known?.read ?? 0; i < log.length; i++) {
    const entry = log[i]
    if (entry?.kind === 'prefix') least = undefined
    const found = entry ? leastBy(entry, prefix) : undefined
    if (found && (!least || found.sentEstimate < least.sentEstimate)) least = found
  }
  scans.set(log, { read: log.length, prefix, least })
  return least
}

/** A boundary knows it for what comes before it, which is not always loaded. */
function leastBy(entry: Entry, prefix: PrefixEntry | undefined): LeastAnswered | undefined {
  if (entry.kind === 'message') return answered(entry, prefix)
  const left = entry.kind === 'boundary' ? leftBy(entry) : undefined
  return left?.model === prefix?.model ? left?.least : undefined
}

/** What another model counted, or what the provider itself cleared before it counted, says nothing. */
function answered(
  { message, usage, model, sentEstimate }: MessageEntry,
  prefix: PrefixEntry | undefined,
): LeastAnswered | undefined {
  if (!usage || sentEstimate === undefined || model !== prefix?.model) return undefined
  const cleared = 'context_management' in message ? clearedTokens(message.context_management) : 0
  const tokens = promptTokens(usage)
  return tokens > 0 && cleared === 0 ? { tokens, sentEstimate } : undefined
}
