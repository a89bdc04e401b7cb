import { besideSpending, mayCallBeside, type BesideSpending } from '../background/background-bill.ts'
import {
  NOTES_WAIT_MS,
  type NotesKeeper,
  type NotesLimits,
  type PreparedKeeper,
} from '../background/keepers.ts'
import { notesWithoutModel } from '../layers/3-session-memory/notes-for.ts'
import { createNotesKeeper, type NotesSetup } from '../layers/3-session-memory/notes-keeper.ts'
import { createPreparedKeeper } from '../layers/4-compaction/summary/prepared-keeper.ts'
import { notesInVain } from '../layers/4-compaction/when/breakers.ts'
import {
  createExtractionKeeper,
  type ExtractionKeeper,
} from '../layers/5-memory/extraction/extraction-keeper.ts'
import { TTL_MS } from '../ledger/cache.ts'
import type { LoopEvent } from '../loop/events.ts'
import type { ForkPoint } from '../loop/fork-point.ts'
import { withBeside } from '../loop/with-beside.ts'
import type { Ports } from '../ports.ts'
import { lastBought } from '../request/cache-lifetimes.ts'
import type { Session } from '../situation/session.ts'
import type { View } from '../transcript/view.ts'
import { isBlock } from '../wire/message.ts'
import type { MessagesResponse } from '../wire/response.ts'
import type { ConversationNotes, ConversationSetup } from './conversation-setup.ts'

// The work beside the turns of one conversation: notes, prepared summaries, and memories. One per conversation, from its first turn to its
// end.

export interface Beside {
  readonly forkPoint: ForkPoint
  readonly keepers: {
    readonly notes: NotesKeeper | undefined
    readonly prepared: PreparedKeeper
    readonly extraction: ExtractionKeeper | undefined
  }
  /** If the process ended with the previous turn: does what was due then, while the cache still has what it sent. */
  readonly makeUp: (view: View, limits: NotesLimits) => void
  /** Ends the work in progress; its result is lost. */
  readonly giveUp: () => void
  /** Waits up to `waitMs` for the work in progress, and appends its results. */
  readonly settle: (session: Session, waitMs: number) => AsyncGenerator<LoopEvent, Session>
  /** The same, then gives up the rest. */
  readonly end: (session: Session, waitMs?: number) => AsyncGenerator<LoopEvent, Session>
}

/** `maySpend`: whether the session may still spend. */
export function openBeside(
  session: Session,
  forkPoint: ForkPoint,
  setup: ConversationSetup,
  maySpend: () => boolean,
): Beside {
  const { ports, spending, notes, endsWithTurn } = setup
  const common: Common = {
    ports,
    runFork: forkPoint.runFork,
    maySpend: (view, sizeTokens) =>
      maySpend() && mayCallBeside(spentSoFar(view, setup), setup.reading().model.facts, sizeTokens),
    signal: setup.signal,
  }
  const isWorthIt = (view: View): boolean => !endsWithTurn || goesOn(view)
  const made = createPreparedKeeper(common)
  const prepared: PreparedKeeper = {
    ...made,
    consider: (view, limits) => {
      if (isWorthIt(view)) made.consider(view, limits)
    },
  }
  const kept = notes && openNotes(session, notes, common, { endsWithTurn, isWorthIt })
  const extraction = openExtraction(common, setup, maySpend)
  const keepers = { prepared, extraction, notes: kept?.notes }
  const giveUp = (): void => {
    for (const keeper of [prepared, kept?.notes, extraction]) keeper?.stop()
  }
  const take = (last: Session): AsyncGenerator<LoopEvent, Session> =>
    withBeside(last, {
      keepers: { ...keepers, agents: setup.agents },
      spending: { metered: spending?.metered },
      ports,
    })
  const settle: Beside['settle'] = async function* (last, waitMs) {
    await Promise.all([kept?.notes.settle(Math.min(waitMs, NOTES_WAIT_MS)), extraction?.settle(waitMs)])
    return yield* take(last)
  }
  return {
    forkPoint,
    keepers,
    makeUp: (view, limits) => {
      if (isCached(view, ports.clock.now())) kept?.makeUp(view, limits)
    },
    giveUp,
    settle,
    end: async function* (last, waitMs = NOTES_WAIT_MS) {
      const ended = yield* settle(last, waitMs)
      const isLate = extraction?.isWorking() ?? false
      giveUp()
      await kept?.settled()
      if (!isLate) return ended
      // What it requested before it was ended is paid for.
      await extraction?.settle(ENDING_WAIT_MS)
      return yield* take(ended)
    },
  }
}

/** How long to wait for work that was told to end: it ends at once if the disk lets it. */
const ENDING_WAIT_MS = 1_000

/** Starts when a turn has ended, even if the process ends then. */
function openExtraction(
  { ports, signal }: Common,
  setup: ConversationSetup,
  maySpend: () => boolean,
): ExtractionKeeper | undefined {
  if (!setup.extraction) return undefined
  const isWithin = (view: View, sizeTokens: number, responses: readonly MessagesResponse[] = []): boolean =>
    maySpend() && mayCallBeside(spentSoFar(view, setup), setup.reading().model.facts, sizeTokens, responses)
  return createExtractionKeeper({
    ports,
    signal,
    host: setup.extraction,
    maySpend: (view, sizeTokens) => isWithin(view, sizeTokens),
    mayGoOn: (view, responses, sizeTokens) => isWithin(view, sizeTokens, responses),
  })
}

/**
 * The larger of two sums: the transcript's totals include what is not loaded, and the log's have prices for models that the table lacks.
 */
function spentSoFar(
  { log }: View,
  { totals, spending }: Pick<ConversationSetup, 'totals' | 'spending'>,
): BesideSpending {
  const loaded = besideSpending(log)
  const { costUsd, besideUsd = 0 } = totals()
  return {
    ...loaded,
    totalUsd: Math.max(loaded.totalUsd, costUsd),
    besideUsd: Math.max(loaded.besideUsd, besideUsd),
    elsewhere: spending?.elsewhere?.(),
  }
}

type Common = Pick<NotesSetup, 'runFork' | 'maySpend' | 'signal'> & { readonly ports: Ports }

function openNotes(
  { view: begin }: Session,
  { policy, writer, written, asksModel }: ConversationNotes,
  common: Common,
  when: { readonly endsWithTurn: boolean; readonly isWorthIt: (view: View) => boolean },
): {
  readonly notes: NotesKeeper
  readonly makeUp: Beside['makeUp']
  readonly settled: () => Promise<void>
} {
  const { flags } = common.ports
  // A fork has notes, but no file yet.
  const inherited = begin.log.findLast((entry) => entry.kind === 'notes')?.text
  let isWritten = written !== undefined
  const save = async (text: string): Promise<void> => {
    isWritten = true
    await writer.write(text)
  }
  const kept = createNotesKeeper({ ...common, policy, save, written, failedBefore: notesInVain(begin.log) })
  // What was due at the end of the previous turn is done in this one, with its first answer at the latest.
  let isLate = when.endsWithTurn
  const consider: NotesKeeper['consider'] = (view, at, limits) => {
    if (!isWritten && flags.value('session-memory')) {
      if (inherited === undefined) writer.writeComputed(() => notesWithoutModel(view, policy.template))
      else void save(inherited)
    }
    if (!asksModel || !when.isWorthIt(view)) return
    kept.consider(view, isLate ? 'turn-end' : at, limits)
    isLate = false
  }
  const makeUp: Beside['makeUp'] = (view, limits) => {
    if (asksModel) kept.consider(view, 'turn-end', limits)
  }
  return { notes: { ...kept, consider }, makeUp, settled: writer.settled }
}

/** How long messages stay in the cache. */
function isCached(view: View, now: number): boolean {
  const newest = view.nodes.findLast(({ role }) => role === 'assistant')?.source.at
  return newest !== undefined && now < newest + TTL_MS[lastBought(view)]
}

/** The newest answer calls tools, so more answers follow. */
function goesOn({ nodes }: View): boolean {
  const newest = nodes.findLast(({ role }) => role === 'assistant')
  return newest?.blocks.some(({ block }) => isBlock(block, 'tool_use')) ?? false
}
