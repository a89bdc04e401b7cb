import type { CompactionOutlook } from '../layers/2-micro-compaction/plan.ts'
import { compactionPolicy, leftTokens } from '../layers/4-compaction/policy.ts'
import type { Flags } from '../flags/create-flags.ts'
import type { Thresholds } from '../situation/thresholds.ts'
import type { View } from '../transcript/view.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { settle } from '../transcript/settle.ts'
import { mayCompact, type AutoCompaction } from './auto-compact.ts'
import { targetFor } from '../layers/4-compaction/proof/size-rule.ts'
import { sourcesFor } from './compact-session.ts'
import type { Sizing } from '../situation/size-of.ts'
import { fullAt } from '../situation/is-full.ts'

/** What the price of a compaction to come depends on. */
export type ComingCompaction = Pick<
  AutoCompaction,
  'isOn' | 'scale' | 'wishes' | 'policy' | 'notesTemplate' | 'findPrepared' | 'awaitsNotes'
>

/** What a compaction by threshold would leave and cost now. Undefined if none would come: then only clearing makes room. */
export function compactionOutlook(
  view: View,
  limits: Sizing & {
    readonly compaction?: ComingCompaction | undefined
    readonly thresholds: Thresholds
    readonly prefixTokens: number
  },
  flags: Flags,
): CompactionOutlook | undefined {
  const { compaction, thresholds, prefixTokens } = limits
  if (!compaction || !mayCompact(compaction, flags) || flags.value('reactive-only')) return undefined
  const policy = compaction.policy ?? compactionPolicy(compaction.scale, compaction.wishes?.keep)
  const rest = restAfterSummary(view, compaction, flags)
  const { tokens } = settle(view, limits.thinking)
  const restTokens = factorOf(limits.calibration) * ((tokens[view.nodes.length] ?? 0) - (tokens[rest] ?? 0))
  const fits = prefixTokens + restTokens <= targetFor({ thresholds, prefixTokens })
  const isComing = flags.value('compaction-from-notes') && (compaction.awaitsNotes?.() ?? false)
  return { leftTokens: leftTokens(policy, fullAt(thresholds), prefixTokens), asksModel: !fits && !isComing }
}

/** The first node that no summary at hand (notes, or one that was prepared) covers; 0 if there is none. */
function restAfterSummary(view: View, compaction: ComingCompaction, flags: Flags): number {
  const { findPrepared } = compaction
  const rests = sourcesFor({ flags, findPrepared }).map((source) =>
    'find' in source ? (source.find(view, compaction)?.rest ?? 0) : 0,
  )
  return Math.max(...rests)
}
