import { createCompactionNews } from '../engine/compaction-news.ts'
import type { CacheWatch } from '../accounts/cache-watch.ts'
import { NOTES_WAIT_MS } from '../background/keepers.ts'
import { drive, relay } from '../drive.ts'
import { besideLimits } from '../engine/beside-limits.ts'
import type { CompactResult } from '../layers/4-compaction/compaction-setup.ts'
import type { CompactionSpan } from '../layers/4-compaction/keep/keep-for.ts'
import { admitLetters } from '../loop/admit-letters.ts'
import { ownIds } from '../loop/answers/own-ids.ts'
import type { LoopEvent, TurnEnd } from '../loop/events.ts'
import { runCompaction } from '../loop/run-compaction.ts'
import { runTurn, type TurnCompaction, type TurnSetup } from '../loop/run-turn.ts'
import { withBeside } from '../loop/with-beside.ts'
import type { RunFork } from '../ports.ts'
import { recallById } from '../recall/recall-by-id.ts'
import type { Recalled } from '../recall/recalled.ts'
import {
  appendAfter,
  appendMessage,
  messageBody,
  type EntryBody,
  type Session,
} from '../situation/session.ts'
import { sizeOf, type Sizing } from '../situation/size-of.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { Entry, MessageEntry, SeenFile } from '../transcript/entry.ts'
import type { Totals } from '../transcript/totals.ts'
import { viewOf, type View } from '../transcript/view.ts'
import type { Block } from '../wire/message.ts'
import { begin } from './begin.ts'
import { openBeside, type Beside } from './beside.ts'
import { changesOf, type ViewChanges } from '../context/change-view.ts'
import { compactionNow } from './compaction-now.ts'
import type { ConversationSetup } from './conversation-setup.ts'
import { describeView, type ViewDescription } from '../context/describe-view.ts'
import { openForkPoint } from './switch-model.ts'
import { situationNow, turnSetup } from './turn-setup.ts'

// One running session: turns one after the other, each on the result of the last one. Everything that is appended to a session goes through
// a conversation, and what it reports is on disk. It knows no screen and no key, and shares its state with no one.

export interface Conversation extends ViewChanges {
  readonly id: string
  readonly view: () => View
  /** The loaded entries, oldest first: from the newest boundary on, or from the beginning. */
  readonly log: () => readonly Entry[]
  readonly totals: () => Totals
  /** Size of the next request in tokens, as far as is known. */
  readonly sizeTokens: () => number
  /** True once something was said or is stored: a session that is not kept leaves nothing behind. */
  readonly isKept: () => boolean
  /** Runs one turn, up to the answer that calls no tool. */
  readonly send: (said: Said, signal: AbortSignal) => AsyncGenerator<LoopEvent, undefined>
  /** Runs one turn on what other agents wrote. Returns whether there was anything; if not, no request is made. */
  readonly listen: (signal: AbortSignal) => AsyncGenerator<LoopEvent, boolean>
  /** Adds a message to the conversation, without asking the model. */
  readonly add: (said: Said, signal: AbortSignal) => AsyncGenerator<LoopEvent, undefined>
  readonly compact: (wish: CompactionWish, signal: AbortSignal) => AsyncGenerator<LoopEvent, CompactResult>
  /** Takes the conversation to the point before this message. What came after stays in the transcript. */
  readonly rewind: (message: MessageEntry) => Promise<void>
  /** Returns the complete content that an id stands for, in view or long out of it. */
  readonly recall: (id: string, charsMax: number) => Promise<Recalled>
  /** Describes what fills the window now, and what was removed from it. */
  readonly describe: () => ViewDescription
  /** Waits up to `waitMs` for the work beside the turns, and appends its results. */
  readonly settle: (waitMs: number) => AsyncGenerator<LoopEvent, undefined>
  /** Ends the work beside the turns; its results are lost. */
  readonly stop: () => void
  /**
   * Appends the results of the work beside the turns, waiting at most `waitMs`, and ends the rest. Closing the transcript is up to whoever
   * opened it.
   */
  readonly close: (waitMs?: number) => Promise<void>
}

export interface Said {
  readonly content: string | readonly Block[]
  /** Whose words they are. Absent: the user's. */
  readonly origin?: 'user' | 'peer' | undefined
  /** The files that it shows. */
  readonly files?: readonly SeenFile[] | undefined
  /** The user's words, for the list of sessions. Absent: the content, if that is text. */
  readonly words?: string | undefined
}

export interface CompactionWish {
  /** Absent: the whole conversation. */
  readonly span?: CompactionSpan | undefined
  /** What the summary should keep. */
  readonly instructions?: string | undefined
  /** Model that writes this summary, even if there are notes. */
  readonly summaryModel?: string | undefined
}

interface State {
  session: Session
  /** Prefix and opening are sent. */
  hasBegun: boolean
  /** How the running turn measures sizes. Undefined between turns. */
  sizing: Sizing | undefined
  /** Kept from turn to turn: starting over would mean going through the whole history. */
  watch: CacheWatch | undefined
  /** Notes and prepared summaries, also kept from turn to turn. */
  beside: Beside | undefined
}

export function openConversation(given: ConversationSetup): Conversation {
  const setup = {
    ...given,
    compaction: given.compaction && { news: createCompactionNews(), ...given.compaction },
  }
  const state: State = {
    session: setup.session,
    hasBegun: false,
    sizing: undefined,
    watch: undefined,
    beside: undefined,
  }
  const { ports, history, totals } = setup
  const view = (): View => state.session.view
  const changes = changesOf(
    {
      get: () => state.session,
      grow: (session) => {
        state.session = session
      },
      replace: (session) => replaceSession(session, state),
    },
    { ports, history, situation: (session) => situationNow(session.view, setup) },
  )
  return {
    id: setup.session.id,
    view,
    log: () => view().log,
    totals,
    sizeTokens: () => sizeNow(state, setup),
    isKept: () => state.hasBegun || view().nodes.length > 0,
    send: (said, signal) => send(said, state, setup, signal),
    listen: (signal) => listen(state, setup, signal),
    add: (said, signal) => add(said, state, setup, signal),
    compact: (wish, signal) => compact(wish, state, setup, signal),
    ...changes,
    undo: async (id) => {
      await endBeside(state, UNDO_WAIT_MS)
      return await changes.undo(id)
    },
    rewind: async (message) => await rewind(message, state, setup),
    recall: async (id, charsMax) => await recallById(id, history, charsMax),
    describe: () => {
      const model = view().prefix?.model ?? setup.prefix.model
      const now = ports.clock.now()
      return describeView(view(), { model, reading: setup.reading(), totals: totals(), now })
    },
    settle: async function* (waitMs) {
      const { session, beside } = state
      state.session = yield* beside ? beside.settle(session, waitMs) : takeBeside(session, setup)
      return undefined
    },
    stop: () => {
      state.beside?.giveUp()
      state.beside = undefined
    },
    close: async (waitMs = NOTES_WAIT_MS) => await endBeside(state, waitMs),
  }
}

/** Before the first turn, only agents run beside it. */
function takeBeside(
  session: Session,
  { agents, spending, ports }: ConversationSetup,
): AsyncGenerator<LoopEvent, Session> {
  return withBeside(session, { keepers: { agents }, spending: { metered: spending?.metered }, ports })
}

/** An undo does not wait long for work that is being written. */
const UNDO_WAIT_MS = 1_000

async function endBeside(state: State, waitMs: number): Promise<void> {
  const { beside } = state
  state.beside = undefined
  if (beside) state.session = await drive(beside.end(state.session, waitMs))
}

async function* send(
  said: Said,
  state: State,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, undefined> {
  yield* takeTurn(yield* inputOf(said, state, setup, signal), state, setup, signal)
  return undefined
}

async function* listen(
  state: State,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, boolean> {
  const mail = setup.agents?.mail(state.session.view)
  if (!mail?.letters) return false
  const opening = yield* openingOf('', state, setup, signal)
  for (const body of [...opening, ...mail.said]) {
    const { session, entry } = await appendMessage(state.session, body, setup.ports)
    state.session = session
    yield { type: 'message', entry }
  }
  const joined = yield* admitLetters(state, mail.letters, setup.ports)
  if (joined > 0) yield* takeTurn([], state, setup, signal)
  return joined > 0
}

async function* takeTurn(
  input: readonly EntryBody<MessageEntry>[],
  state: State,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent> {
  const turn = setupOf(state, setup)
  const { view } = state.session
  if (setup.endsWithTurn) state.beside?.makeUp(view, besideLimits(view, turn))
  state.sizing = turn.situation
  let end: TurnEnd | undefined
  try {
    const events = runTurn(state.session, input, turn, signal)
    state.session = yield* relay(events, (event) => {
      if (event.type === 'turn-end') end = event.end
      return event
    })
  } finally {
    state.sizing = undefined
  }
  if (end?.reason === 'answered') considerExtraction(state, turn)
}

/** What was said may matter in later conversations. */
function considerExtraction({ session: { view }, beside }: State, turn: TurnSetup): void {
  if (!beside?.keepers.extraction) return
  const hold = (): RunFork => beside.forkPoint.hold(ownIds(view, turn.ports.newId))
  beside.keepers.extraction.consider(view, { ...besideLimits(view, turn), hold })
}

async function* add(
  said: Said,
  state: State,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, undefined> {
  for (const body of yield* inputOf(said, state, setup, signal)) {
    const { session, entry } = await appendMessage(state.session, body, setup.ports)
    state.session = session
    yield { type: 'message', entry }
  }
  return undefined
}

/** The message, after what comes before the first message of this run. */
async function* inputOf(
  { content, origin = 'user', files = [], words }: Said,
  state: State,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, readonly EntryBody<MessageEntry>[]> {
  const body = messageBody({ role: 'user', content }, origin, files.length > 0 ? { files } : {})
  const prompt = words ?? (typeof content === 'string' ? content : '')
  return [...(yield* openingOf(prompt, state, setup, signal)), body]
}

/** What comes before the first message of this run. */
async function* openingOf(
  prompt: string,
  state: State,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, readonly EntryBody<MessageEntry>[]> {
  if (state.hasBegun) return []
  const { session, opening } = yield* begin(state.session, prompt, setup, signal)
  state.hasBegun = true
  state.session = session
  return opening
}

async function* compact(
  { span = { kind: 'whole' }, instructions, summaryModel }: CompactionWish,
  state: State,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, CompactResult> {
  const compaction = askedCompaction(state.session, summaryModel, setup)
  if (!compaction) return { kind: 'refused', why: 'compaction is turned off for this conversation' }
  const turn = { ...setupOf(state, setup), compaction }
  state.sizing = turn.situation
  try {
    const { session, result } = yield* runCompaction(state.session, { span, instructions }, turn, signal)
    state.session = session
    return result
  } finally {
    state.sizing = undefined
  }
}

/** A model other than the session's own has nothing of it in its cache. If a model is named, it is asked, whatever the notes say. */
function askedCompaction(
  { view }: Session,
  named: string | undefined,
  setup: ConversationSetup,
): TurnCompaction | undefined {
  const compaction = compactionNow(setup)
  if (!compaction) return undefined
  const [own, next] = [view.prefix?.model, setup.prefix.model]
  const other = own !== undefined && own !== next ? next : undefined
  const { wishes, notesTemplate } = compaction
  return {
    ...compaction,
    notesTemplate: named === undefined ? notesTemplate : undefined,
    wishes: { ...wishes, model: named ?? wishes?.model ?? other },
  }
}

/** Adding an entry after the one before the message makes that branch the newest: what follows belongs to it. */
async function rewind(
  message: MessageEntry,
  state: State,
  { ports, history }: ConversationSetup,
): Promise<void> {
  await endBeside(state, UNDO_WAIT_MS)
  const { session } = state
  const title = session.view.log.find((entry) => entry.kind === 'title')
  const { title: text = '', firstPrompt = '' } = title ?? {}
  await appendAfter(message.parent, [{ kind: 'title', title: text, firstPrompt }], ports)
  const { entries, from } = await history.load([])
  replaceSession({ ...session, view: viewOf(entries, from) }, state)
}

/** The conversation changed, so what we knew about its requests no longer holds. */
function replaceSession(session: Session, state: State): void {
  state.session = session
  state.watch = undefined
}

function setupOf(state: State, setup: ConversationSetup): TurnSetup {
  const { totals, spending } = setup
  const maySpend = (session: Session): boolean => {
    // Called before every request, with the session at that time.
    state.session = session
    return spending?.maxUsd === undefined || totals().costUsd < spending.maxUsd
  }
  const { thinking } = situationNow(state.session.view, setup)
  state.beside ??= openBeside(
    state.session,
    openForkPoint(state.session, { thinking, maxTokens: setup.maxTokens() }, setup.ports),
    setup,
    () => maySpend(state.session),
  )
  const turn = turnSetup(state.session, setup, { maySpend, beside: state.beside, watch: state.watch })
  state.watch = turn.cacheWatch
  return turn
}

/** Before the first message, the view has no system prompt and tools yet, but the request will. */
function sizeNow({ session: { view }, sizing }: State, setup: ConversationSetup): number {
  if (sizing) return sizeOf(view, sizing)
  const now = situationNow(view, setup)
  const { system, tools } = setup.prefix
  const ahead = view.prefix ? 0 : estimateText(system) + estimateText(tools)
  return sizeOf(view, now) + Math.ceil(factorOf(now.calibration) * ahead)
}
