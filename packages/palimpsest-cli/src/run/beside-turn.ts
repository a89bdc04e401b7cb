import type { Ports } from 'palimpsest'
import {
  besideSpending,
  mayCallBeside,
  notesInVain,
  notesWithoutModel,
  type BesideSpending,
  type NotesLimits,
  type NotesPolicy,
  type Session,
} from 'palimpsest/engine'
import { TTL_MS } from 'palimpsest/ledger'
import {
  createNotesKeeper,
  createPreparedKeeper,
  NOTES_WAIT_MS,
  withBeside,
  type ForkPoint,
  type LoopEvent,
  type MeteredModel,
  type NotesKeeper,
  type NotesSetup,
  type PreparedKeeper,
} from 'palimpsest/loop'
import type { NotesFile } from 'palimpsest/node'
import type { View } from 'palimpsest/transcript'
import { isBlock, type ModelFacts } from 'palimpsest/wire'

import { lastBought } from './models/cache-lifetimes.ts'
import { createNotesWriter, writtenNotes } from './notes/notes-writer.ts'

// What goes on beside the turns of one conversation: notes, and summaries made in time. One for a conversation, from its first turn to
// its end.

export interface BesideSetup {
  readonly ports: Ports
  readonly metered?: Pick<MeteredModel, 'take' | 'notices'> | undefined
  readonly facts: ModelFacts
  /** Absent: no notes are kept. */
  readonly notes?: RunNotes | undefined
  /** Whether the session may still spend. */
  readonly maySpend: () => boolean
  /** By the whole session, whatever part of it is loaded. */
  readonly spent: () => Pick<BesideSpending, 'totalUsd' | 'besideUsd'>
  /** The process ends with the turn: what begins at its end would be in vain. */
  readonly endsWithTurn: boolean
  readonly signal: AbortSignal
}

export interface RunNotes {
  readonly policy: NotesPolicy
  readonly file: NotesFile
  /** What the file says where the run begins. */
  readonly found: string | undefined
  /** Else they are computed only: another model writes the summaries, or nothing is ever compacted. */
  readonly asksModel: boolean
  readonly report: (text: string) => void
}

export interface BesideTurn {
  readonly forkPoint: ForkPoint
  readonly keepers: { readonly notes?: NotesKeeper; readonly prepared: PreparedKeeper }
  /** Where a process ended with the turn before: what was due then, while what it had sent is still cached. */
  readonly makeUp: (view: View, limits: NotesLimits) => void
  /** Ends what is under way; what it would have brought is lost. */
  readonly giveUp: () => void
  /** Waits a moment for what is under way, and appends what came. */
  readonly settle: (session: Session, waitMs: number) => AsyncGenerator<LoopEvent, Session>
  /** The same, and gives up the rest. */
  readonly end: (session: Session, waitMs?: number) => AsyncGenerator<LoopEvent, Session>
}

export function openBeside(session: Session, forkPoint: ForkPoint, setup: BesideSetup): BesideTurn {
  const { ports, facts } = setup
  const stop = new AbortController()
  const common: Common = {
    ports,
    runFork: forkPoint.runFork,
    maySpend: (view, sizeTokens) =>
      setup.maySpend() && mayCallBeside(spentSoFar(view, setup), facts, sizeTokens),
    signal: AbortSignal.any([setup.signal, stop.signal]),
  }
  const isWorthIt = (view: View): boolean => !setup.endsWithTurn || goesOn(view)
  const made = createPreparedKeeper(common)
  const prepared: PreparedKeeper = {
    ...made,
    consider: (view, limits) => {
      if (isWorthIt(view)) made.consider(view, limits)
    },
  }
  const kept = setup.notes && openNotes(session, setup.notes, common, { ...setup, isWorthIt })
  const keepers = { prepared, ...(kept && { notes: kept.notes }) }
  const settle: BesideTurn['settle'] = async function* (last, waitMs) {
    await kept?.notes.settle(waitMs)
    return yield* withBeside(last, { ...keepers, ...(setup.metered && { metered: setup.metered }), ports })
  }
  return {
    forkPoint,
    keepers,
    makeUp: (view, limits) => {
      if (isCached(view, ports.clock.now())) kept?.makeUp(view, limits)
    },
    giveUp: () => stop.abort(),
    settle,
    end: async function* (last, waitMs = NOTES_WAIT_MS) {
      const session = yield* settle(last, waitMs)
      stop.abort()
      await kept?.settled()
      return session
    },
  }
}

/** The larger of two sums: the file's reach back before what is loaded, and the log's have a price for models that the table does not hold. */
function spentSoFar({ log }: View, { spent }: Pick<BesideSetup, 'spent'>): BesideSpending {
  const [loaded, whole] = [besideSpending(log), spent()]
  return {
    ...loaded,
    totalUsd: Math.max(loaded.totalUsd, whole.totalUsd),
    besideUsd: Math.max(loaded.besideUsd, whole.besideUsd),
  }
}

type Common = Pick<NotesSetup, 'runFork' | 'maySpend' | 'signal'> & { readonly ports: Ports }

function openNotes(
  { view: begin }: Session,
  { policy, file, found, asksModel, report }: RunNotes,
  common: Common,
  when: { readonly endsWithTurn: boolean; readonly isWorthIt: (view: View) => boolean },
): {
  readonly notes: NotesKeeper
  readonly makeUp: BesideTurn['makeUp']
  readonly settled: () => Promise<void>
} {
  const { flags } = common.ports
  const writer = createNotesWriter(file, report)
  const written = writtenNotes(found)
  // A fork has notes, and no file yet.
  const inherited = begin.log.findLast((entry) => entry.kind === 'notes')?.text
  let isWritten = written !== undefined
  const save = async (text: string): Promise<void> => {
    isWritten = true
    await writer.write(text)
  }
  const kept = createNotesKeeper({ ...common, policy, save, written, failedBefore: notesInVain(begin.log) })
  // What was due at the end of the turn before is made up for in this one, at the latest with its first answer.
  let isLate = when.endsWithTurn
  const consider: NotesKeeper['consider'] = (view, at, limits) => {
    if (!isWritten && flags.value('session-memory')) {
      if (inherited === undefined) writer.writeComputed(notesWithoutModel(view, policy.template))
      else void save(inherited)
    }
    if (!asksModel || !when.isWorthIt(view)) return
    kept.consider(view, isLate ? 'turn-end' : at, limits)
    isLate = false
  }
  const makeUp: BesideTurn['makeUp'] = (view, limits) => {
    if (asksModel) kept.consider(view, 'turn-end', limits)
  }
  return { notes: { ...kept, consider }, makeUp, settled: writer.settled }
}

/** Messages are bought for so long. */
function isCached(view: View, now: number): boolean {
  const newest = view.nodes.findLast(({ role }) => role === 'assistant')?.source.at
  return newest !== undefined && now < newest + TTL_MS[lastBought(view)]
}

/** The newest answer calls tools: more answers follow. */
function goesOn({ nodes }: View): boolean {
  const newest = nodes.findLast(({ role }) => role === 'assistant')
  return newest?.blocks.some(({ block }) => isBlock(block, 'tool_use')) ?? false
}
