import { runCompaction, runTurn, type LoopEvent, type TurnSetup } from 'palimpsest/loop'
import { appendMessage, appendTo, messageBody, sizeOf, type EntryBody, type Session } from 'palimpsest/engine'
import type { Entry, MessageEntry, View } from 'palimpsest/transcript'

import { prepareRun, type PreparedRun } from '../../run/prepare-run.ts'
import type { BesideTurn } from '../../run/beside-turn.ts'
import { createOffer } from '../../run/compaction/offer-compaction.ts'
import { beginConversation, besideOf, turnSetup } from '../../print/run-headless.ts'
import type { RunWishes } from '../../run/set-scene.ts'
import type { World } from '../../world.ts'
import { SHELL_HEAD } from '../screen/past-lines.ts'
import { estimated, type Figures, type StatusFacts } from '../screen/status-line.ts'
import { attachFiles } from './attach-files.ts'
import { figuresAfter, firstFigures, sizeNow } from './follow-figures.ts'
import { runUserCommand } from './run-user-command.ts'
import { watchSummary } from './watch-summary.ts'

// One session that is talked to: turns one after another, each on what the last one left. All of it is on disk before it is told.

export interface Conversation {
  readonly id: string
  readonly prepared: PreparedRun
  readonly facts: StatusFacts
  readonly figures: () => Figures
  /** Since the newest boundary, oldest first. */
  readonly log: () => readonly Entry[]
  readonly view: () => View
  readonly totals: PreparedRun['opened']['file']['totals']
  /** Files named by `@` come with the message. */
  readonly say: (text: string, signal: AbortSignal) => AsyncGenerator<LoopEvent, undefined>
  /** A command of the user's own: what it printed joins the conversation; nobody answers. */
  readonly runShell: (command: string, signal: AbortSignal) => Promise<string>
  /** Why nothing was compacted; undefined where it was. */
  readonly compact: (
    instructions: string,
    signal: AbortSignal,
  ) => AsyncGenerator<LoopEvent, string | undefined>
  /** The conversation as it was before that message. It must be opened again then. */
  readonly rewindTo: (message: MessageEntry) => Promise<void>
  /** A session in which nothing was said leaves nothing behind. */
  readonly isKept: () => boolean
  readonly close: () => Promise<void>
}

export interface ConversationWatch {
  /** Told how many characters of a summary are written, while one is. */
  readonly onSummary?: (chars: number) => void
}

export async function openConversation(
  wishes: RunWishes,
  home: string,
  world: World,
  { onSummary = () => undefined }: ConversationWatch = {},
): Promise<Conversation> {
  const prepared = await prepareRun(wishes, home, world)
  const { opened } = prepared
  const ports = watchSummary(prepared.run.ports, onSummary)
  // Each turn begins with what is known by then: what the window is, and whether anything compacts by itself, may have changed.
  const runNow = (): Run => ({ ...prepared.run, ports })
  const { session, prefix } = prepared.run
  const state: State = {
    session,
    hasBegun: false,
    isClosed: false,
    figures: firstFigures(prepared.run, opened.file.totals()),
    cacheWatch: undefined,
    beside: undefined,
    signal: world.signal,
  }
  const isKept = (): boolean => state.hasBegun || state.session.view.nodes.length > 0
  return {
    id: session.id,
    prepared,
    get facts() {
      const { window, thresholds, autoEnabled } = prepared.run.reading
      return { model: prefix.model, window, thresholds, autoEnabled }
    },
    figures: () => state.figures,
    log: () => state.session.view.log,
    view: () => state.session.view,
    totals: () => opened.file.totals(),
    say: (text, signal) => say(text, state, runNow(), signal),
    runShell: async (command, signal) =>
      await runShell(command, state, { ...prepared, run: runNow() }, signal),
    compact: (instructions, signal) => compact(instructions, state, runNow(), signal),
    rewindTo: async (message) => await rewindTo(message, state, runNow()),
    isKept,
    close: async () => {
      if (state.isClosed) return
      state.isClosed = true
      if (state.beside) await quietly(state.beside.end(state.session, LEAVING_WAIT_MS))
      prepared.flags.close()
      await prepared.modelList.close()
      await prepared.shells.killAll()
      await prepared.hooks.close()
      await (isKept() ? opened.file.close() : opened.giveUp())
    },
  }
}

type Run = PreparedRun['run']

interface State {
  session: Session
  /** Prefix and opening are told. */
  hasBegun: boolean
  isClosed: boolean
  figures: Figures
  /** Goes on from turn to turn: beginning anew would cost the whole history. */
  cacheWatch: TurnSetup['cacheWatch']
  /** Notes and prepared summaries: they go on from turn to turn too. */
  beside: BesideTurn | undefined
  readonly signal: AbortSignal
}

/** Who leaves does not wait long for notes under way: the next session does without them. */
const LEAVING_WAIT_MS = 1_000

const HOW_TO_COMPACT = 'Type /compact to compact it, then continue.'

async function* say(
  text: string,
  state: State,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, undefined> {
  const opening = yield* begin(text, state, run, signal)
  const { content, files, notices } = await attachFiles(text, run, signal)
  for (const notice of notices) yield { type: 'notice', text: notice }
  const setup = setupOf(state, run)
  const input = [
    ...opening,
    messageBody({ role: 'user', content }, 'user', files.length > 0 ? { files } : {}),
  ]
  const { view } = state.session
  const offered = createOffer({ how: HOW_TO_COMPACT, isAllowed: run.reading.compactEnabled, view })
  const turn = offering(runTurn(state.session, input, setup, signal), offered)
  state.session = yield* followed(turn, state, run, setup)
  return undefined
}

async function* offering<T>(
  events: AsyncGenerator<LoopEvent, T>,
  offered: (event: LoopEvent) => LoopEvent,
): AsyncGenerator<LoopEvent, T> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value
    yield offered(next.value)
  }
}

async function runShell(
  command: string,
  state: State,
  { run, allowOwn }: Pick<PreparedRun, 'run' | 'allowOwn'>,
  signal: AbortSignal,
): Promise<string> {
  const opening = await quietly(begin(`!${command}`, state, run, signal))
  const output = await runUserCommand(command, { tools: run.tools, allowOwn }, signal)
  const content = `${SHELL_HEAD}${command}\n\n${output}`
  for (const body of [...opening, messageBody({ role: 'user', content }, 'user')])
    state.session = (await appendMessage(state.session, body, run.ports)).session
  state.figures = estimated(state.figures, sizeNow(state.session, run), run.spent().totalUsd)
  return output
}

async function* compact(
  instructions: string,
  state: State,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, string | undefined> {
  const { compaction, reading } = run
  if (!compaction || !reading.compactEnabled) return 'DISABLE_COMPACT is set: nothing is compacted. Unset it'
  const setup = { ...setupOf(state, run), compaction }
  const wish = { span: { kind: 'whole' }, ...(instructions === '' ? {} : { instructions }) } as const
  const steps = runCompaction(state.session, wish, setup, signal)
  const { session, result } = yield* followed(steps, state, run, setup)
  state.session = session
  return result.kind === 'compacted' ? undefined : result.why
}

/** An entry behind the one before the message makes that branch the newest: it is what is opened next. */
async function rewindTo(message: MessageEntry, state: State, { ports }: Run): Promise<void> {
  const { session } = state
  const title = session.view.log.find((entry) => entry.kind === 'title')
  const { title: text = '', firstPrompt = '' } = title ?? {}
  const view = { ...session.view, leaf: message.parent }
  const body = { kind: 'title', title: text, firstPrompt } as const
  // What is appended until it is closed belongs to that branch too.
  state.session = (await appendTo({ ...session, view }, [body], ports)).session
}

/** What stands before the first message of this run; the prefix is told with it. */
async function* begin(
  prompt: string,
  state: State,
  run: Run,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, readonly EntryBody<MessageEntry>[]> {
  if (state.hasBegun) return []
  const { session, opening } = yield* beginConversation({ ...run, session: state.session, prompt }, signal)
  state.hasBegun = true
  state.session = session
  return opening
}

async function quietly<T>(events: AsyncGenerator<LoopEvent, T>): Promise<T> {
  for (let next = await events.next(); ; next = await events.next()) if (next.done) return next.value
}

function setupOf(state: State, run: Run): TurnSetup {
  const maySpend: TurnSetup['maySpend'] = (session) => {
    // Asked before every request: the session as it is then.
    state.session = session
    return run.maxCostUsd === undefined || run.spent().totalUsd < run.maxCostUsd
  }
  state.beside ??= besideOf(run, state.session, {
    maySpend: () => maySpend(state.session),
    endsWithTurn: false,
    signal: state.signal,
  })
  const kept = { maySpend, beside: state.beside, watch: state.cacheWatch }
  const setup = turnSetup(run, state.session, kept)
  state.cacheWatch = setup.cacheWatch
  return setup
}

/** Passes on what is told, and keeps the figures those of what is on disk. */
async function* followed<T>(
  events: AsyncGenerator<LoopEvent, T>,
  state: State,
  { spent }: Run,
  setup: TurnSetup,
): AsyncGenerator<LoopEvent, T> {
  const size = (): number => sizeOf(state.session.view, setup)
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value
    state.figures = figuresAfter(state.figures, next.value, { spentUsd: () => spent().totalUsd, size })
    yield next.value
  }
}
