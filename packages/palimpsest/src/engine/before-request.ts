import { planShare } from '../layers/1-tool-results/plan.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import type { Ports } from '../ports.ts'
import { thresholdsInForce } from '../situation/after-undo.ts'
import { planningMoment } from './edit-moment.ts'
import { guardCompaction, guardRequest, storeAll, waitsForRefusal } from './guard-request.ts'
import { interruptedResults } from '../situation/interrupted.ts'
import { makeRoom } from './make-room.ts'
import { withCacheEdits } from '../layers/2-micro-compaction/with-cache-edits.ts'
import { planEdit } from './plan-edit.ts'
import { pointerText } from '../facts/pointers/pointer-text.ts'
import type { EditLimits, PlannedEdit } from '../layers/2-micro-compaction/planned-edit.ts'
import { sizeOf } from '../situation/size-of.ts'
import { storageFor } from '../layers/1-tool-results/storage-for.ts'
import {
  AUTO_COMPACT,
  AUTO_DECISIONS,
  type AutoCompaction,
  type AutoDecision,
  type EngineStep,
} from './auto-compact.ts'
import { messageBody, type EntryBody, type Session } from '../situation/session.ts'
import { fullAt } from '../situation/is-full.ts'

// Before a request: the second moment. Step by step it yields what must be appended so that the request is valid and fits, and gets the
// session back with it; at the end it says whether the request may be sent.

export interface RequestLimits extends EditLimits {
  /** From this many tokens on, a request is refused instead of sent. */
  readonly blockingTokens: number
  readonly storage: StoragePolicy
  /** The known tools; some of them bound their results themselves. */
  readonly tools?: readonly {
    readonly name: string
    readonly resultCharsMax?: number | 'unlimited' | undefined
  }[]
  /** Absent: nothing is compacted. */
  readonly compaction?: AutoCompaction | undefined
  readonly source?: string
  /** Provider and model support edits of their cache. */
  readonly cacheEdits?: boolean | undefined
}

export interface Readiness {
  /** The size of the request. */
  readonly tokens: number
  /** A sentence for the user; set if the request may not be sent. */
  readonly blocked?: string
}

export async function* beforeRequest(
  start: Session,
  given: RequestLimits,
  ports: Pick<Ports, 'blobs' | 'clock' | 'trace' | 'flags' | 'newId'>,
  signal: AbortSignal,
): AsyncGenerator<EngineStep, Readiness, Session> {
  let session = start
  const limits = { ...given, thresholds: thresholdsInForce(start.view, given.thresholds) }
  const open = interruptedResults(session.view)
  if (open.length > 0) session = yield { append: open }
  const pointer = limits.isMain ? planPointer(session, ports) : undefined
  if (pointer) session = yield { append: [pointer] }
  const storage = storageFor(ports.flags, limits.storage)
  const bounded = new Set(
    limits.tools?.flatMap(({ name, resultCharsMax }) => boundedName(name, resultCharsMax)),
  )
  const plans = storage ? planShare(session.view, storage, (tool) => bounded.has(tool)) : []
  const beforeTokens = sizeOf(session.view, limits)
  let guard: SizeGuard = 'below-threshold'
  const shared = await storeAll(plans, limits, ports)
  if (shared.length > 0) [session, guard] = [yield { append: shared }, 'stored']
  const planned = planEditNow(session, sizeOf(session.view, limits), limits, ports)
  if (planned) [session, guard] = [yield { append: [planned.edit] }, 'edited']
  const guarded = yield* guardRequest(session, limits, ports)
  const isGuarded = guarded !== session
  session = yield* guardCompaction(guarded, limits, ports)
  if (isGuarded || session !== guarded) guard = 'stored'
  // What was too little next to a round that large may be enough now; and a pause's edit may leave too much.
  const late =
    isGuarded || planned ? planEditNow(session, sizeOf(session.view, limits), limits, ports) : undefined
  if (late) [session, guard] = [yield { append: [late.edit] }, 'edited']
  const { compaction, source = 'main' } = limits
  if (compaction && limits.isMain) {
    const sizeTokens = sizeOf(session.view, limits)
    const heard = hearGuard(ports)
    session = yield* makeRoom(session, { ...limits, compaction, source, sizeTokens }, heard.ports, signal)
    guard = heard.guard() ?? guard
    // A compaction that had to go harder leaves less of the last round.
    session = yield* guardRequest(session, limits, ports)
  }
  const tokens = sizeOf(session.view, limits)
  const isBlocked = tokens >= limits.blockingTokens && !waitsForRefusal(limits, ports.flags)
  ports.trace({
    name: 'size-check',
    reason: isBlocked ? 'blocked' : guard,
    tokens,
    thresholdTokens: fullAt(limits.thresholds),
    blockingTokens: limits.blockingTokens,
    freedTokens: Math.max(0, beforeTokens - tokens),
  })
  return isBlocked ? { tokens, blocked: blockedText(tokens, limits) } : { tokens }
}

/** A message of its own: what a search or an edit names may be outside the window, and this says where. */
function planPointer(
  { view }: Session,
  { flags, trace }: Pick<Ports, 'flags' | 'trace'>,
): EntryBody | undefined {
  const isExcerpt = flags.value('recall-excerpts')
  if (!isExcerpt && !flags.value('recall-pointers')) return undefined
  const form = isExcerpt ? 'excerpt' : 'pointer'
  const text = pointerText(view, form)
  if (text === undefined) return undefined
  trace({ name: 'recall-pointer', reason: form, chars: text.length })
  return messageBody({ role: 'user', content: [{ type: 'text', text }] }, 'recall')
}

/** What decided a check of the size: what acted last, or why nothing did. */
type SizeGuard = 'below-threshold' | 'stored' | 'edited' | 'collapsed' | AutoDecision

/** The same ports; traces about a compaction, or about why there is none, are read on their way. */
function hearGuard<T extends Pick<Ports, 'trace'>>(
  ports: T,
): { readonly ports: T; readonly guard: () => SizeGuard | undefined } {
  let guard: SizeGuard | undefined
  const trace: Ports['trace'] = (event) => {
    if (event.name === 'collapse') guard = 'collapsed'
    if (event.name === AUTO_COMPACT) guard = AUTO_DECISIONS.find((known) => known === event.reason) ?? guard
    ports.trace(event)
  }
  return { ports: { ...ports, trace }, guard: () => guard }
}

function boundedName(name: string, resultCharsMax: number | 'unlimited' | undefined): readonly string[] {
  return resultCharsMax === 'unlimited' ? [name] : []
}

/** Everything that is due now, as one edit. */
function planEditNow(
  session: Session,
  tokens: number,
  limits: RequestLimits,
  ports: Pick<Ports, 'clock' | 'flags' | 'trace'>,
): PlannedEdit | undefined {
  const now = ports.clock.now()
  const { view, moment, micro } = planningMoment(
    session.view,
    { now, sizeTokens: tokens },
    limits,
    ports.flags,
  )
  const mayDelete = limits.cacheEdits === true && ports.flags.value('cache-edits')
  // An agent waits for nobody: its own pause says nothing about what is still needed.
  const isAgent = (limits.source ?? 'main').startsWith('subagent:')
  const cold = micro.acts.cold && !isAgent
  const own = { ...limits, micro: { ...micro, acts: { ...micro.acts, cold } } }
  const edit = planEdit(view, moment, own)
  // Edits of the provider's cache are only for the conversation of the user.
  const planned = isAgent ? edit : withCacheEdits(view, edit, now, { ...own, mayDelete })
  if (planned) {
    const { cause, freedTokens, replace, drop } = planned.edit
    const counts = { freedTokens, replaced: replace.length, dropped: drop.length, sizeTokens: tokens }
    ports.trace({ name: 'edit-planned', cause, reason: planned.why, ...counts, ...planned.numbers })
  }
  return planned
}

/** Suggests no compaction: if nothing was answered yet, there is nothing to compact. */
function blockedText(tokens: number, { blockingTokens }: RequestLimits): string {
  return `The conversation holds about ${tokens} tokens and the limit is ${blockingTokens}.`
}
