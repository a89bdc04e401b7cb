import { relay } from '../drive.ts'
import { setupFor } from '../engine/auto-compact.ts'
import type { CompactResult } from '../layers/4-compaction/compaction-setup.ts'
import { compactSession } from '../engine/compact-session.ts'
import type { CompactWish } from '../layers/4-compaction/compaction-setup.ts'
import { appendTo, type Session } from '../situation/session.ts'
import { sizeOf } from '../situation/size-of.ts'
import { steadyHost } from '../layers/4-compaction/compaction-host.ts'
import { createAskModel } from './ask-once.ts'
import type { LoopEvent } from './events.ts'
import { NOTES_WAIT_MS } from '../background/keepers.ts'
import type { TurnCompaction, TurnSetup } from './run-turn.ts'
import { withBeside } from './with-beside.ts'

/** What is known where a compaction is requested. */
export interface CompactionRunSetup extends Pick<TurnSetup, 'ports' | 'situation' | 'source' | 'keepers'> {
  readonly spending: Pick<TurnSetup['spending'], 'metered'>
  readonly compaction: TurnCompaction
  /** False: there is no model to ask, so the summary that needs none is used. */
  readonly asksModel?: boolean
}

export interface CompactionRun {
  readonly session: Session
  readonly result: CompactResult
}

/** A compaction that the user asked for. If it does nothing, the conversation does not change. */
export async function* runCompaction(
  begin: Session,
  wish: Omit<CompactWish, 'cause'>,
  setup: CompactionRunSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, CompactionRun> {
  // Instructions ask for a new summary, so notes are not waited for.
  if (wish.instructions === undefined) await setup.keepers.notes?.settle(NOTES_WAIT_MS)
  const session = yield* withBeside(begin, setup)
  try {
    return yield* compactWith(session, wish, setup, signal)
  } catch (error) {
    // Aborted: what it cost until then is on the bill.
    yield* withBeside(session, setup)
    throw error
  }
}

/** Bills what a compaction cost that came to nothing. */
async function* withSpent(
  session: Session,
  result: CompactResult,
  ports: TurnSetup['ports'],
): AsyncGenerator<LoopEvent, Session> {
  const spent = result.kind === 'refused' ? (result.spent ?? []) : []
  if (spent.length === 0) return session
  const appended = await appendTo(session, spent, ports)
  yield { type: 'engine', entries: appended.entries }
  return appended.session
}

async function* compactWith(
  session: Session,
  wish: Omit<CompactWish, 'cause'>,
  setup: CompactionRunSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, CompactionRun> {
  const { ports, situation, source, asksModel = true } = setup
  const { forkPoint, prepared } = setup.keepers
  const compaction = {
    ...setup.compaction,
    askModel: asksModel ? createAskModel(ports) : undefined,
    runFork: forkPoint?.runFork,
    findPrepared: prepared?.find,
  }
  const cause = 'asked'
  const sizeTokens = sizeOf(session.view, situation)
  const limits = { ...situation, source, compaction, cause, sizeTokens } as const
  const job = { wish: { ...wish, cause } as const, setup: setupFor(session, limits) }
  const steps = compactSession(session, job, { ...ports, ...compaction }, signal)
  let began = false
  const result = yield* relay(steps, (event) => {
    began ||= event.type === 'compaction-start'
    return event
  })
  if (result.kind !== 'compacted') {
    const after = yield* withSpent(session, result, ports)
    if (began) yield { type: 'compaction-end' }
    return { session: after, result }
  }
  const appended = await appendTo(session, result.bodies, ports)
  yield { type: 'engine', entries: appended.entries }
  yield { type: 'compaction-end' }
  await steadyHost(compaction.host, ports.trace).after({ trigger: 'manual', summary: result.summary }, signal)
  return { session: appended.session, result }
}
