import { clearingEdit } from './apply.ts'
import { deletedResults, findPins, hasCollapsed, planCacheEdits, type CacheEditPin } from './cache-edits.ts'
import type { PlanNumbers } from './plan.ts'
import { TTL_MS } from '../../ledger/cache.ts'
import { factorOf } from '../../tokens/calibrate.ts'
import type { BlockRef, EditEntry } from '../../transcript/entry.ts'
import type { View } from '../../transcript/view.ts'
import type { EditLimits, PlannedEdit } from './planned-edit.ts'
import type { EntryBody } from '../../situation/session.ts'

// Edits of the cache, next to edits of messages. While the cache is warm they replace those. When it is lost, or when anything else changes
// the prefix, they are removed, and what they had deleted is cleared in the messages.

/** Clocks differ, so an entry counts as gone only a little after its time. */
const EXPIRY_GRACE_MS = 30_000
const NO_NUMBERS: PlanNumbers = {
  freedTokens: 0,
  tokensAfterEdit: 0,
  requestsAhead: 0,
  growthTokens: 0,
  compactionDollars: 0,
  gainDollars: 0,
  costDollars: 0,
}

/** `planned` is what the messages need anyway. Without `mayDelete` no new edit of the cache is made, but existing ones are maintained. */
export function withCacheEdits(
  view: View,
  planned: PlannedEdit | undefined,
  now: number,
  limits: EditLimits & { readonly mayDelete: boolean },
): PlannedEdit | undefined {
  if (!limits.isMain) return planned
  const pins = findPins(view)
  if (planned)
    return pins.length > 0 ? { ...planned, edit: withoutPins(view, planned.edit, pins, limits) } : planned
  if (pins.length > 0 && isLost(view, pins, now, limits)) {
    const edit = withoutPins(
      view,
      { kind: 'edit', cause: 'cold', replace: [], drop: [], freedTokens: 0 },
      pins,
      limits,
    )
    return { edit, why: 'the cache that was edited is lost' }
  }
  if (!limits.mayDelete) return undefined
  const edit = planCacheEdits(view, limits.micro.keepNewest, toTokensBy(limits))
  return edit && { edit, why: 'the cache can be edited' }
}

function isLost(view: View, pins: readonly CacheEditPin[], now: number, { lifetime }: EditLimits): boolean {
  const answeredAt = view.nodes.findLast(({ role }) => role === 'assistant')?.source.at ?? now
  const isCold = now - answeredAt > TTL_MS[lifetime ?? '1h'] + EXPIRY_GRACE_MS
  // A compaction may have kept an edit but not what it names.
  const named = pins.reduce((sum, { references }) => sum + references.length, 0)
  return isCold || hasCollapsed(view, pins) || deletedResults(view, pins).length < named
}

function withoutPins(
  view: View,
  edit: EntryBody<EditEntry>,
  pins: readonly CacheEditPin[],
  limits: EditLimits,
): EntryBody<EditEntry> {
  const isUntouched = (at: BlockRef): boolean =>
    !edit.drop.includes(at.entry) &&
    !edit.replace.some((one) => one.at.entry === at.entry && one.at.index === at.index)
  const results = deletedResults(view, pins).filter(({ block }) => isUntouched(block.at))
  const plan = { cause: 'cold', results, why: '', numbers: NO_NUMBERS } as const
  const cleared = clearingEdit(view, plan, toTokensBy(limits), limits.micro)
  const both = [...edit.replace, ...(cleared?.replace ?? [])]
  const isLeft = (at: BlockRef): boolean =>
    isUntouched(at) && !both.some((one) => one.at.entry === at.entry && one.at.index === at.index)
  const left = pins.filter(({ at }) => isLeft(at)).map(({ at, texts }) => ({ at, with: texts }))
  return {
    ...edit,
    replace: [...both, ...left],
    freedTokens: edit.freedTokens + (cleared?.freedTokens ?? 0),
  }
}

function toTokensBy({ calibration }: EditLimits): (raw: number) => number {
  const factor = factorOf(calibration)
  return (raw) => raw * factor
}
