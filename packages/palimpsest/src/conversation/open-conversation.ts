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
import { appendMessage, appendTo, messageBody, type EntryBody, type Session } from '../situation/session.ts'
import { sizeOf, type Sizing } from '../situation/size-of.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { Entry, MessageEntry, SeenFile } from '../transcript/entry.ts'
import type { Totals } from '../transcript/totals.ts'
import { viewOf, type View } from '../transcript/view.ts'
import type { Block } from '../wire/message.ts'
import { begin } from './begin.ts'
import { openBeside, type Beside } from './beside.ts'
import { changesOf, type ViewChanges } from './change-view.ts'
import { compactionNow } from './compaction-now.ts'
import type { ConversationSetup } from './conversation-setup.ts'
import { describeView, type ViewDescription } from './describe-view.ts'
import { openForkPoint } from './switch-model.ts'
import { situationNow, turnSetup } from './turn-setup.ts'

// One session that is talked to: turns one after the other, each on what the last one left. Whoever appends to a session does it through
// one of these; what it tells is on disk. It has no screen and no key, and its state is nobody else's.

export interface Conversation extends ViewChanges {
  readonly id: string
  readonly view: () => View
  /** What is loaded, oldest first: from the newest boundary on, or from the beginning. */
  readonly log: () => readonly Entry[]
  readonly totals: () => Totals
  /** Of the next request, as far as is known. */
  readonly sizeTokens: () => number
  /** Something was said, or is stored: a session that is not kept leaves nothing. */
  readonly isKept: () => boolean
  /** One turn, to the answer that calls no tool. */
  readonly send: (said: Said, signal: AbortSignal) => AsyncGenerator<LoopEvent, undefined>
  /** One turn on what other agents wrote. Says whether there was something; where there was not, nobody answers. */
  readonly listen: (signal: AbortSignal) => AsyncGenerator<LoopEvent, boolean>
  /** What is said joins the conversation; nobody answers. */
  readonly add: (said: Said, signal: AbortSignal) => AsyncGenerator<LoopEvent, undefined>
  readonly compact: (wish: CompactionWish, signal: AbortSignal) => AsyncGenerator<LoopEvent, CompactResult>
  /** The conversation as it was before that message. What came after stays in the transcript. */
  readonly rewind: (message: MessageEntry) => Promise<void>
  /** What an id stands for, whole, in view or long out of it. */
  readonly recall: (id: string, charsMax: number) => Promise<Recalled>
  /** What fills the window now, and what was taken out of it. */
  readonly describe: () => ViewDescription
  /** Waits a moment for what goes on beside the turns, and takes what came. */
  readonly settle: (waitMs: number) => AsyncGenerator<LoopEvent, undefined>
  /** Ends what goes on beside the turns; what it would have brought is lost. */
  readonly stop: () => void
  /** Takes what came beside the turns, waiting at most so long, and ends the rest. The transcript is closed by whoever opened it. */
  readonly close: (waitMs?: number) => Promise<void>
}

export interface Said {
  readonly content: string | readonly Block[]
  /** Whose words they are. Left out: the user's. */
  readonly origin?: 'user' | 'peer' | undefined
  /** What it shows of files. */
  readonly files?: readonly SeenFile[] | undefined
  /** The words of the user, for the list of sessions. Left out: the content, where that is text. */
  readonly words?: string | undefined
}

export interface CompactionWish {
  /** Left out: the whole conversation. */
  readonly span?: CompactionSpan | undefined
  /** For the summary: what it should keep. */
  readonly instructions?: string | undefined
  /** Asked for this summary, whatever notes there are. */
  readonly summaryModel?: string | undefined
}

interface State {
  session: Session
  /** Prefix and opening are told. */
  hasBegun: boolean
  /** While a turn runs: how it measures. */
  sizing: Sizing | undefined
  /** Goes on from turn to turn: starting over would cost the whole history. */
  watch: CacheWatch | undefined
  /** Notes and prepared summaries: they go on from turn to turn too. */
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

/** Before the first turn nothing runs beside it but agents. */
function takeBeside(
  session: Session,
  { agents, spending, ports }: ConversationSetup,
): AsyncGenerator<LoopEvent, Session> {
  return withBeside(session, { keepers: { agents }, spending: { metered: spending?.metered }, ports })
}

/** Who takes something back does not wait long for what is being written of it. */
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

/** The message, with what stands before the first one of this run. */
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

/** What stands before the first message of this run. */
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
  if (!compaction) return { kind: 'refused', why: 'nothing may compact this conversation' }
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

/** Another model than the session's own has nothing of it in its cache. One that is named is asked, whatever the notes say. */
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

/** An entry behind the one before the message makes that branch the newest: what follows belongs to it. */
async function rewind(
  message: MessageEntry,
  state: State,
  { ports, history }: ConversationSetup,
): Promise<void> {
  await endBeside(state, UNDO_WAIT_MS)
  const { session } = state
  const title = session.view.log.find((entry) => entry.kind === 'title')
  const { title: text = '', firstPrompt = '' } = title ?? {}
  const view = { ...session.view, leaf: message.parent }
  await appendTo({ ...session, view }, [{ kind: 'title', title: text, firstPrompt }], ports)
  const { entries, from } = await history.load([])
  replaceSession({ ...session, view: viewOf(entries, from) }, state)
}

/** The conversation says something else now: what was known of its requests is void. */
function replaceSession(session: Session, state: State): void {
  state.session = session
  state.watch = undefined
}

function setupOf(state: State, setup: ConversationSetup): TurnSetup {
  const { totals, spending } = setup
  const maySpend = (session: Session): boolean => {
    // Asked before every request: the session as it is then.
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

/** Before the first message system and tools are not told yet, and will be in it all the same. */
function sizeNow({ session: { view }, sizing }: State, setup: ConversationSetup): number {
  if (sizing) return sizeOf(view, sizing)
  const now = situationNow(view, setup)
  const { system, tools } = setup.prefix
  const ahead = view.prefix ? 0 : estimateText(system) + estimateText(tools)
  return sizeOf(view, now) + Math.ceil(factorOf(now.calibration) * ahead)
}
