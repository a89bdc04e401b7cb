import { encodeFacts } from '../facts/encode-facts.ts'
import { factsOf } from '../facts/facts-of.ts'
import { continuationText } from '../layers/4-compaction/continuation.ts'
import type { CompactionPolicy } from '../layers/4-compaction/policy.ts'
import { settle } from '../transcript/settle.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { targetFor } from './compact.ts'
import { compactionBodies } from './compaction-bodies.ts'
import type { CompactSetup } from './compaction-setup.ts'
import { countMessages, keepFor, type KeptPlan } from './keep-for.ts'
import { foldFor } from './make-summary.ts'
import type { NamedBody } from './session.ts'

export interface FoldSetup extends Pick<
  CompactSetup,
  'calibration' | 'thinking' | 'thresholds' | 'scale' | 'sizeTokens' | 'prefixTokens' | 'transcriptPath'
> {
  readonly policy?: CompactionPolicy
}

/** A compaction that asks nobody: what it appends, nothing where nothing would leave the view. No file is read again. */
export function compactWithFold(view: View, setup: FoldSetup, newId: () => EntryId): readonly NamedBody[] {
  const wish = { ...setup, span: { kind: 'whole' }, harder: false, targetTokens: targetFor(setup) } as const
  const plan = keepFor(view, settle(view, setup.thinking).tokens, wish)
  return plan.summarised.length === 0 ? [] : foldInto(view, plan, setup, newId)
}

/** The same with what stays already chosen. */
export function foldInto(
  view: View,
  plan: KeptPlan,
  setup: Pick<FoldSetup, 'calibration' | 'prefixTokens' | 'sizeTokens' | 'transcriptPath'>,
  newId: () => EntryId,
): readonly NamedBody[] {
  const { transcriptPath } = setup
  const { text, score } = foldFor({ view, plan, setup })
  return compactionBodies(
    view,
    {
      ...plan,
      summary: continuationText({
        summary: text,
        mode: 'automatic',
        keepsTail: plan.kept.length > 0,
        ...(transcriptPath !== undefined && { transcriptPath }),
      }),
      restored: [],
      meta: {
        trigger: 'auto',
        preTokens: Math.round(setup.sizeTokens),
        messagesSummarized: countMessages(plan.summarised),
        path: 'fold',
        proof: score,
        extra: { facts: encodeFacts(factsOf(view)) },
      },
    },
    newId,
  )
}
