import type { PreparedLimits } from '../../../background/keepers.ts'
import { summaryPrompt } from './prompt.ts'
import { readSummary } from './read-summary.ts'
import type { Flags } from '../../../flags/create-flags.ts'
import type { ForkOutcome } from '../../../ports.ts'
import type { EntryId } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import { lastSent } from '../../../situation/last-sent.ts'
import { offersSignedCompaction } from './server-compaction.ts'
import { isFull } from '../../../situation/is-full.ts'

// A summary that is made before the window is full, so that crossing the threshold costs no wait.

export interface PreparedWish {
  readonly prompt: string
  readonly upTo: EntryId
}

/** Undefined outside the range between warning and threshold, and if the summary is to come from elsewhere. */
export function preparedWish(view: View, limits: PreparedLimits, flags: Flags): PreparedWish | undefined {
  const { sizeTokens, thresholds } = limits
  if (sizeTokens < thresholds.warning || isFull(sizeTokens, thresholds)) return undefined
  if (!flags.value('prepared-compaction') || !flags.value('auto-compact')) return undefined
  if (!flags.value('background-calls') || flags.value('collapse') || flags.value('reactive-only'))
    return undefined
  if (limits.wishes?.model !== undefined || offersSignedCompaction(view, limits, flags)) return undefined
  const upTo = limits.isSpared?.() ? undefined : lastSent(view)
  return upTo === undefined ? undefined : { prompt: summaryPrompt({ kind: 'whole' }), upTo }
}

export function readPrepared(outcome: ForkOutcome): string | undefined {
  if (outcome.kind !== 'answered' || outcome.response.stop_reason === 'max_tokens') return undefined
  const { text, empty, cut } = readSummary(outcome.text)
  return empty || cut ? undefined : text
}
