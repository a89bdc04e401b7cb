import type { Flags } from '../flags/create-flags.ts'
import type { MicroPolicy } from '../layers/2-micro-compaction/policy.ts'
import { SPARES_COMPACTION } from '../layers/2-micro-compaction/plan.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import { undoneIn } from '../situation/after-undo.ts'
import { compactionOutlook, type ComingCompaction } from './compaction-outlook.ts'
import { microFor } from '../layers/2-micro-compaction/micro-for.ts'
import { planEdit, type EditMoment } from './plan-edit.ts'
import type { EditLimits } from '../layers/2-micro-compaction/planned-edit.ts'
import { offersSignedCompaction } from '../layers/4-compaction/summary/server-compaction.ts'
import { fullAt } from '../situation/is-full.ts'

export interface ClearingLimits extends EditLimits {
  readonly compaction?: ComingCompaction | undefined
}

/** What is known when edits are planned. */
export interface PlanningMoment {
  /** What was undone is pinned in it, so that it is not removed again. */
  readonly view: View
  readonly moment: EditMoment
  readonly micro: MicroPolicy
}

export function planningMoment(
  given: View,
  { now, sizeTokens }: Pick<EditMoment, 'now' | 'sizeTokens'>,
  limits: ClearingLimits,
  flags: Flags,
): PlanningMoment {
  const view = withUndonePinned(given)
  const messageTokens = factorOf(limits.calibration) * tokensEnd(settle(view, limits.thinking))
  const prefixTokens = Math.max(0, sizeTokens - messageTokens)
  const asked = { ...limits, wishes: limits.compaction?.wishes }
  const serverCompacts = offersSignedCompaction(view, asked, flags)
  const compaction = compactionOutlook(view, { ...limits, prefixTokens }, flags)
  return {
    view,
    moment: { now, sizeTokens, prefixTokens, serverCompacts, compaction },
    micro: microFor(flags, limits.micro, view.prefix),
  }
}

/** Whether clearing will make room when the window is full: then no compaction comes, and nothing need be prepared for one. */
export function clearingWillSpare(
  given: View,
  sizeTokens: number,
  limits: ClearingLimits,
  flags: Flags,
): boolean {
  const answeredAt = given.nodes.findLast(({ role }) => role === 'assistant')?.source.at ?? 0
  const { view, moment, micro } = planningMoment(given, { now: answeredAt, sizeTokens }, limits, flags)
  const full = Math.max(sizeTokens, fullAt(limits.thresholds))
  return planEdit(view, { ...moment, sizeTokens: full }, { ...limits, micro })?.why === SPARES_COMPACTION
}

function withUndonePinned(view: View): View {
  const { blocks } = undoneIn(view)
  return blocks.size === 0 ? view : { ...view, pinned: new Set([...view.pinned, ...blocks]) }
}
