import { encodeFacts } from '../../../facts/encode-facts.ts'
import { factsOf } from '../../../facts/facts-of.ts'
import { continuationText } from './continuation.ts'
import type { EntryId } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import { compactionBodies } from './compaction-bodies.ts'
import type { CompactSetup } from '../compaction-setup.ts'
import { countMessages, standingFor, type KeptPlan } from '../keep/keep-for.ts'
import { foldFor } from './make-summary.ts'
import type { NamedBody } from '../../../situation/session.ts'

/** The entries of a compaction without a model, with what stays already chosen. No file is read again. */
export function foldInto(
  view: View,
  plan: KeptPlan,
  setup: Pick<CompactSetup, 'calibration' | 'prefixTokens' | 'sizeTokens' | 'transcriptPath'>,
  newId: () => EntryId,
): readonly NamedBody[] {
  const { transcriptPath } = setup
  const { text, score } = foldFor({ view, plan, setup })
  return compactionBodies(
    view,
    {
      ...plan,
      summary: continuationText({
        ...standingFor(view, plan),
        summary: text,
        mode: 'automatic',
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
