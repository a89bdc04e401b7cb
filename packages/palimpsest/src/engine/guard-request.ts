import { storeResult } from '../layers/1-tool-results/apply.ts'
import { planBare, planGuard, type UnsentPlan } from '../layers/1-tool-results/plan.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import { REFILLS_MAX } from '../layers/4-compaction/when/decide.ts'
import { recordOf } from '../situation/compaction-record.ts'
import type { Flags } from '../flags/create-flags.ts'
import type { Ports } from '../ports.ts'
import { factorOf, type Calibration } from '../tokens/calibrate.ts'
import type { Thresholds } from '../situation/thresholds.ts'
import type { EditEntry } from '../transcript/entry.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import { toViewBlock } from '../transcript/view-block.ts'
import type { View } from '../transcript/view.ts'
import { mayCompact, type AutoCompaction, type EngineStep } from './auto-compact.ts'
import { targetFor } from '../layers/4-compaction/proof/size-rule.ts'
import { neededTokens } from '../layers/4-compaction/proof/judge-summary.ts'
import type { EntryBody, Session } from '../situation/session.ts'
import { sizeOf, type Sizing } from '../situation/size-of.ts'
import { storedBody } from '../layers/1-tool-results/stored-body.ts'
import { fullAt, isFull } from '../situation/is-full.ts'

// The guard of the next request: results that no request has carried yet go to disk until it fits, whichever tool made them.
// It acts before a compaction is considered: a round that was not sent yet stays in every compaction, so no summary makes room for it.

/** Share of the threshold: results of the last round that stay whole after a compaction that had to go harder. */
const HARDER_SHARE_MAX = 0.3
/** Share of what the model accepts: room for its answer, if the request may be that large. */
const ANSWER_SHARE = 0.1

/** Share of the limit: storing makes this much more room, so that a word said before the answer comes does not start another decision. */
const SPARE_SHARE = 0.02

export interface GuardLimits extends Sizing {
  readonly thresholds: Thresholds
  readonly blockingTokens: number
  readonly storage: StoragePolicy
  readonly isMain: boolean
  readonly compaction?: AutoCompaction | undefined
}

/** Nothing is refused here: the provider's refusal starts a compaction. Not if none may follow it. */
export function waitsForRefusal(
  { compaction, isMain }: Pick<GuardLimits, 'compaction' | 'isMain'>,
  flags: Flags,
): boolean {
  return isMain && compaction !== undefined && mayCompact(compaction, flags) && flags.value('reactive-only')
}

/** Stores what is too much. Right after a compaction that had to go harder, the limit is low. */
export async function* guardRequest(
  start: Session,
  limits: GuardLimits,
  ports: Pick<Ports, 'blobs' | 'trace' | 'flags'>,
): AsyncGenerator<EngineStep, Session, Session> {
  if (!ports.flags.value('tool-result-guard')) return start
  const limitTokens = guardLimit(start.view, limits, ports.flags)
  if (sizeOf(start.view, limits) < limitTokens) return start
  const toTokens = (raw: number): number => raw * factorOf(limits.calibration)
  const excessOf = ({ view }: Session): number => sizeOf(view, limits) - (1 - SPARE_SHARE) * limitTokens
  let session = start
  // A stand-in may turn out larger than planned, and then more must be stored. What was stored is not planned again, so this ends.
  for (let excess = excessOf(session); excess > 0; excess = excessOf(session)) {
    const guarded = await storeAll(planGuard(session.view, excess, toTokens, limits.storage), limits, ports)
    if (guarded.length === 0) break
    session = yield { append: guarded }
  }
  const spareTokens = SPARE_SHARE * limitTokens
  const bare = planBare(session.view, { excessTokens: excessOf(session), spareTokens, toTokens })
  if (bare.length > 0) session = yield { append: bare.map((one) => ({ kind: 'stored', ...one })) }
  return session
}

/** Stores what would make a compaction useless: as little as avoids the compaction, or lets it make room. */
export async function* guardCompaction(
  start: Session,
  limits: GuardLimits,
  ports: Pick<Ports, 'blobs' | 'trace' | 'flags'>,
): AsyncGenerator<EngineStep, Session, Session> {
  const { compaction, isMain } = limits
  if (!compaction || !isMain || !mayCompact(compaction, ports.flags)) return start
  if (!ports.flags.value('tool-result-guard') || ports.flags.value('reactive-only')) return start
  const excess = excessInCompaction(start.view, limits)
  if (excess <= 0) return start
  const factor = factorOf(limits.calibration)
  const plans = planGuard(start.view, excess, (raw) => raw * factor, limits.storage)
  // If the excess is not in results, storing the others would be in vain.
  if (factor * plans.reduce((sum, { block }) => sum + block.tokens, 0) < excess) return start
  const stored = await storeAll(plans, limits, ports)
  return stored.length > 0 ? yield { append: stored } : start
}

/**
 * What is newer than the last request stays in every compaction. If that alone is more than a compaction may leave, this much must go
 * first.
 */
function excessInCompaction(view: View, limits: GuardLimits): number {
  const { thresholds, calibration } = limits
  const size = sizeOf(view, limits)
  if (!isFull(size, thresholds)) return 0
  const settled = settle(view, limits.thinking)
  const factor = factorOf(calibration)
  const newest = view.nodes.findLastIndex(({ role }) => role === 'assistant')
  const after = factor * (tokensEnd(settled) - (settled.tokens[Math.max(0, newest)] ?? 0))
  const prefixTokens = Math.max(0, size - factor * tokensEnd(settled))
  const needed = neededTokens(view, { calibration, thresholds, prefixTokens })
  const left = targetFor({ thresholds, prefixTokens }) - prefixTokens - needed
  return Math.min(size - fullAt(thresholds) + 1, after - left)
}

/** If nothing blocks, the limit is what the model accepts. */
function guardLimit(view: View, limits: GuardLimits, flags: Flags): number {
  const { blockingTokens, thresholds, compaction } = limits
  const { boundary, nodes } = view
  const isHarder = boundary?.nodes === nodes.length && (recordOf(boundary.entry)?.refills ?? 0) >= REFILLS_MAX
  if (isHarder) return Math.min(blockingTokens, HARDER_SHARE_MAX * fullAt(thresholds))
  const accepted = waitsForRefusal(limits, flags) ? (compaction?.windowTokens ?? 0) : 0
  return Math.max(blockingTokens, (1 - ANSWER_SHARE) * accepted)
}

export async function storeAll(
  plans: readonly UnsentPlan[],
  limits: { readonly storage: StoragePolicy; readonly calibration: Calibration },
  ports: Pick<Ports, 'blobs' | 'trace'>,
): Promise<EntryBody[]> {
  const bodies: EntryBody[] = []
  const cut: EditEntry['replace'][number][] = []
  let freedRaw = 0
  for (const plan of plans) {
    const stored = await storeResult(plan, limits.storage, ports)
    const freed = plan.block.tokens - toViewBlock(plan.block.at, stored.standIn, false).tokens
    if (freed <= 0) continue
    bodies.push(...storedBody(stored))
    if (stored.blob) continue
    cut.push({ at: plan.block.at, with: [stored.standIn] })
    freedRaw += freed
  }
  const freedTokens = Math.round(freedRaw * factorOf(limits.calibration))
  return cut.length > 0 ? [...bodies, cutEdit(cut, freedTokens)] : bodies
}

/** What could not be stored is shown in part. It was not sent yet, so nothing that was sent changes; the transcript has it whole. */
function cutEdit(replace: EditEntry['replace'], freedTokens: number): EntryBody<EditEntry> {
  return { kind: 'edit', cause: 'forced', replace, drop: [], freedTokens }
}
