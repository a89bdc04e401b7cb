import { storeResult } from '../layers/1-tool-results/apply.ts'
import { planBare, planGuard, planShare, type UnsentPlan } from '../layers/1-tool-results/plan.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import type { Flags } from '../flags/create-flags.ts'
import type { Ports } from '../ports.ts'
import type { EditEntry } from '../transcript/entry.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import { toViewBlock } from '../transcript/view-block.ts'
import type { View } from '../transcript/view.ts'
import { REFILLS_MAX } from '../layers/4-compaction/decide.ts'
import { recordOf } from '../layers/4-compaction/record.ts'
import { thresholdsAfterUndo, undoneIn } from './after-undo.ts'
import { interruptedResults } from './interrupted.ts'
import { makeRoom } from './make-room.ts'
import { microFor } from './micro-for.ts'
import { withCacheEdits } from './plan-cache-edits.ts'
import { planEdit, type EditLimits, type PlannedEdit } from './plan-edit.ts'
import { offersSignedCompaction } from './server-compaction.ts'
import { sizeOf } from './size-of.ts'
import { storageFor } from './storage-for.ts'
import { storedBody } from './stored-body.ts'
import { mayCompact, type AutoCompaction, type EngineStep } from './auto-compact.ts'
import type { EntryBody, Session } from './session.ts'

// Before a request: the second moment. Step by step it yields what must be appended so that the request is valid and fits, and is
// handed the session back with it; at the end it says whether the request may be sent.

export interface RequestLimits extends EditLimits {
  /** Tokens at which a request is refused rather than sent. */
  readonly blockingTokens: number
  readonly storage: StoragePolicy
  /** What is known of the tools: those that bound their results themselves. */
  readonly tools?: readonly { readonly name: string; readonly resultCharsMax?: number | 'unlimited' }[]
  /** Left out: nothing is compacted. */
  readonly compaction?: AutoCompaction
  readonly source?: string
  /** Provider and model take edits of their cache. */
  readonly cacheEdits?: boolean
}

export interface Readiness {
  /** The size of the request. */
  readonly tokens: number
  /** A sentence for the user, where the request may not be sent. */
  readonly blocked?: string
}

export async function* beforeRequest(
  start: Session,
  given: RequestLimits,
  ports: Pick<Ports, 'blobs' | 'clock' | 'trace' | 'flags' | 'newId'>,
  signal: AbortSignal,
): AsyncGenerator<EngineStep, Readiness, Session> {
  let session = start
  const limits = { ...given, thresholds: thresholdsAfterUndo(given.thresholds, undoneIn(start.view)) }
  const open = interruptedResults(session.view)
  if (open.length > 0) session = yield { append: open }
  const storage = storageFor(ports.flags, limits.storage)
  const bounded = new Set(
    limits.tools?.flatMap(({ name, resultCharsMax }) => boundedName(name, resultCharsMax)),
  )
  const plans = storage ? planShare(session.view, storage, (tool) => bounded.has(tool)) : []
  const shared = await storeAll(plans, limits, ports)
  if (shared.length > 0) session = yield { append: shared }
  let tokens = sizeOf(session.view, limits)
  const planned = planEditNow(session, tokens, limits, ports)
  if (planned) {
    session = yield { append: [planned.edit] }
    tokens = sizeOf(session.view, limits)
  }
  const { compaction, source = 'main' } = limits
  if (compaction && limits.isMain) {
    session = yield* makeRoom(session, { ...limits, compaction, source, sizeTokens: tokens }, ports, signal)
    tokens = sizeOf(session.view, limits)
  }
  const isReactive = waitsForRefusal(limits, ports.flags)
  const guardTokens = guardLimit(session.view, limits, isReactive)
  if (tokens >= guardTokens && ports.flags.value('tool-result-guard')) {
    session = yield* guardRequest(session, { ...limits, blockingTokens: guardTokens }, ports)
    tokens = sizeOf(session.view, limits)
    // What was too little beside a round that large may be enough now.
    const late = planned ? undefined : planEditNow(session, tokens, limits, ports)
    if (late) session = yield { append: [late.edit] }
    if (late) tokens = sizeOf(session.view, limits)
  }
  ports.trace({ name: 'size-check', tokens, blockingTokens: limits.blockingTokens })
  const isBlocked = tokens >= limits.blockingTokens && !isReactive
  return isBlocked ? { tokens, blocked: blockedText(tokens, limits) } : { tokens }
}

/** Nothing is refused here: the provider's refusal starts a compaction. Not where none may follow it. */
function waitsForRefusal({ compaction, isMain }: RequestLimits, flags: Flags): boolean {
  return isMain && compaction !== undefined && mayCompact(compaction, flags) && flags.value('reactive-only')
}

function boundedName(name: string, resultCharsMax: number | 'unlimited' | undefined): readonly string[] {
  return resultCharsMax === 'unlimited' ? [name] : []
}

/** Of the threshold: results of the last round that stay whole behind a compaction that had to go harder. */
const HARDER_SHARE_MAX = 0.3

/** Of what the model accepts: room for its answer, where the request may be as large as that. */
const ANSWER_SHARE = 0.1

/** Right behind such a compaction the biggest results go to disk. Where nothing blocks, what the model accepts is the limit. */
function guardLimit(
  { boundary, nodes }: View,
  { blockingTokens, thresholds, compaction }: RequestLimits,
  isReactive: boolean,
): number {
  const isHarder = boundary?.nodes === nodes.length && recordOf(boundary.entry)?.refills === REFILLS_MAX
  if (isHarder) return Math.min(blockingTokens, HARDER_SHARE_MAX * thresholds.auto)
  const accepted = isReactive ? (compaction?.windowTokens ?? 0) : 0
  return Math.max(blockingTokens, (1 - ANSWER_SHARE) * accepted)
}

/** One edit at most before a request. */
function planEditNow(
  session: Session,
  tokens: number,
  limits: RequestLimits,
  ports: Pick<Ports, 'clock' | 'flags' | 'trace'>,
): PlannedEdit | undefined {
  const view = withUndonePinned(session.view)
  const now = ports.clock.now()
  const messageTokens = factorOf(limits.calibration) * tokensEnd(settle(view, limits.thinking))
  const prefixTokens = Math.max(0, tokens - messageTokens)
  const micro = microFor(ports.flags, limits.micro, view.prefix)
  const mayDelete = limits.cacheEdits === true && ports.flags.value('cache-edits')
  const { summaryModel } = limits.compaction ?? {}
  const asked = { ...limits, ...(summaryModel === undefined ? {} : { summaryModel }) }
  const serverCompacts = offersSignedCompaction(view, asked, ports.flags)
  const edit = planEdit(view, { now, sizeTokens: tokens, prefixTokens, serverCompacts }, { ...limits, micro })
  const planned = withCacheEdits(view, edit, now, { ...limits, micro, mayDelete })
  if (planned) {
    const { cause, freedTokens, replace, drop } = planned.edit
    const counts = { freedTokens, replaced: replace.length, dropped: drop.length, sizeTokens: tokens }
    ports.trace({ name: 'edit-planned', cause, reason: planned.why, ...counts, ...planned.numbers })
  }
  return planned
}

/** What was taken back is not taken out again. */
function withUndonePinned(view: View): View {
  const { blocks } = undoneIn(view)
  return blocks.size === 0 ? view : { ...view, pinned: new Set([...view.pinned, ...blocks]) }
}

/** What was not sent yet goes to disk, and where that is not enough, without a preview. */
async function* guardRequest(
  start: Session,
  limits: RequestLimits,
  ports: Pick<Ports, 'blobs' | 'trace'>,
): AsyncGenerator<EngineStep, Session, Session> {
  const toTokens = (raw: number): number => raw * factorOf(limits.calibration)
  const excessOf = ({ view }: Session): number => sizeOf(view, limits) - limits.blockingTokens + 1
  let session = start
  // A stand-in may come out larger than planned: then there is more to store. What was stored is not planned again, so this ends.
  for (let excess = excessOf(session); excess > 0; excess = excessOf(session)) {
    const guarded = await storeAll(planGuard(session.view, excess, toTokens, limits.storage), limits, ports)
    if (guarded.length === 0) break
    session = yield { append: guarded }
  }
  const bare = planBare(session.view, excessOf(session), toTokens)
  if (bare.length > 0) session = yield { append: bare.map((one) => ({ kind: 'stored', ...one })) }
  return session
}

async function storeAll(
  plans: readonly UnsentPlan[],
  limits: RequestLimits,
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

function blockedText(tokens: number, { blockingTokens }: RequestLimits): string {
  return `The conversation holds about ${tokens} tokens and the limit is ${blockingTokens}. Compact it, or start a new session.`
}
