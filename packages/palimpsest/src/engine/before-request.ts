import { storeResult } from '../layers/1-tool-results/apply.ts'
import { planGuard, planShare, type StorePlan } from '../layers/1-tool-results/plan.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import type { Ports } from '../ports.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import { interruptedResults } from './interrupted.ts'
import { microFor } from './micro-for.ts'
import { planEdit, type EditLimits, type PlannedEdit } from './plan-edit.ts'
import { sizeOf } from './size-of.ts'
import { storageFor } from './storage-for.ts'
import { storedBody } from './stored-body.ts'
import type { EntryBody, Session } from './session.ts'

// Before a request: the second moment. Step by step it yields what must be appended so that the request is valid and fits, and is
// handed the session back with it; at the end it says whether the request may be sent.

export interface RequestLimits extends EditLimits {
  /** Tokens at which a request is refused rather than sent. */
  readonly blockingTokens: number
  readonly storage: StoragePolicy
}

export interface Readiness {
  /** The size of the request. */
  readonly tokens: number
  /** A sentence for the user, where the request may not be sent. */
  readonly blocked?: string
}

export async function* beforeRequest(
  start: Session,
  limits: RequestLimits,
  ports: Pick<Ports, 'blobs' | 'clock' | 'trace' | 'flags'>,
): AsyncGenerator<readonly EntryBody[], Readiness, Session> {
  let session = start
  const open = interruptedResults(session.view)
  if (open.length > 0) session = yield open
  const storage = storageFor(ports.flags, limits.storage)
  const shared = storage ? await storeAll(planShare(session.view, storage), limits, ports) : []
  if (shared.length > 0) session = yield shared
  let tokens = sizeOf(session.view, limits)
  const planned = planEditNow(session, tokens, limits, ports)
  if (planned) {
    session = yield [planned.edit]
    tokens = sizeOf(session.view, limits)
  }
  if (tokens >= limits.blockingTokens && ports.flags.value('tool-result-guard')) {
    const guarded = await storeAll(planGuardOf(session, tokens, limits), limits, ports)
    if (guarded.length > 0) session = yield guarded
    tokens = sizeOf(session.view, limits)
  }
  ports.trace({ name: 'size-check', tokens, blockingTokens: limits.blockingTokens })
  return tokens < limits.blockingTokens ? { tokens } : { tokens, blocked: blockedText(tokens, limits) }
}

/** One edit at most before a request. */
function planEditNow(
  { view }: Session,
  tokens: number,
  limits: RequestLimits,
  ports: Pick<Ports, 'clock' | 'flags' | 'trace'>,
): PlannedEdit | undefined {
  const now = ports.clock.now()
  const messageTokens = factorOf(limits.calibration) * tokensEnd(settle(view, limits.thinking))
  const prefixTokens = Math.max(0, tokens - messageTokens)
  const micro = microFor(ports.flags, limits.micro)
  const planned = planEdit(view, { now, sizeTokens: tokens, prefixTokens }, { ...limits, micro })
  if (planned) {
    const { cause, freedTokens, replace, drop } = planned.edit
    const counts = { freedTokens, replaced: replace.length, dropped: drop.length, sizeTokens: tokens }
    ports.trace({ name: 'edit-planned', cause, reason: planned.why, ...counts, ...planned.numbers })
  }
  return planned
}

function planGuardOf(session: Session, tokens: number, limits: RequestLimits): StorePlan[] {
  const factor = factorOf(limits.calibration)
  return planGuard(session.view, tokens - limits.blockingTokens + 1, (raw) => raw * factor, limits.storage)
}

async function storeAll(
  plans: readonly StorePlan[],
  limits: RequestLimits,
  ports: Pick<Ports, 'blobs' | 'trace'>,
): Promise<EntryBody[]> {
  const bodies: EntryBody[] = []
  for (const plan of plans) bodies.push(...storedBody(await storeResult(plan, limits.storage, ports)))
  return bodies
}

function blockedText(tokens: number, { blockingTokens }: RequestLimits): string {
  return `The conversation holds about ${tokens} tokens and the limit is ${blockingTokens}. Compact it, or begin a new session.`
}
