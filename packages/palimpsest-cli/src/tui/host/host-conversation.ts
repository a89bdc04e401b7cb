import { drive, openConversation, relay, thresholdsInForce, type Conversation } from 'palimpsest/conversation'
import type { LoopEvent } from 'palimpsest/loop'

import { howToCompact } from '../../run/compaction/how-to-compact.ts'
import { prepareRun, type PreparedRun } from '../../run/prepare-run.ts'
import type { RunWishes } from '../../run/set-scene.ts'
import { runningText } from '../../tasks/background-task.ts'
import type { World } from '../../world.ts'
import { SHELL_HEAD } from '../screen/past-lines.ts'
import { modeMark } from '../screen/mode-words.ts'
import { estimated, type Figures, type StatusFacts } from '../screen/status-line.ts'
import { attachFiles } from './attach-files.ts'
import { createChoiceKeeper } from './choice-keeper.ts'
import { figuresAfter, firstFigures } from './follow-figures.ts'
import { runUserCommand } from './run-user-command.ts'
import { watchSummary } from './watch-summary.ts'
import { createWorkWatch, type EndedWork, type WorkWatch } from './work-watch.ts'

// A conversation with a screen: adds the figures of the status line, files named by `@`, and the user's own commands.

export interface HostedConversation extends Conversation {
  readonly prepared: PreparedRun
  readonly facts: StatusFacts
  readonly figures: () => Figures
  /** Files named by `@` come with the message. */
  readonly say: (text: string, signal: AbortSignal) => AsyncGenerator<LoopEvent, undefined>
  /** Runs a command of the user: its output joins the conversation, and the model does not answer. */
  readonly runShell: (command: string, signal: AbortSignal) => Promise<EndedWork>
  /** Keeps the chosen model and mode for a resumed session, even if nothing is said before that. */
  readonly keepChoices: () => void
  /** What its calls are doing. */
  readonly work: WorkWatch
}

export interface ConversationWatch {
  /** While a summary is being written: called with the number of characters so far. */
  readonly onSummary?: (chars: number) => void
  /** Called with the time when a call begins, and without it when a call prints or ends. */
  readonly onWork?: (since?: number) => void
}

/** How long leaving waits for notes and memories under way; what is unfinished is done when the session is resumed. */
const LEAVING_WAIT_MS = 2_000

export async function hostConversation(
  wishes: RunWishes,
  home: string,
  world: World,
  { onSummary = () => undefined, onWork = () => undefined }: ConversationWatch = {},
): Promise<HostedConversation> {
  const work = createWorkWatch(world.now, onWork)
  const watched = { ...wishes, user: wishes.user && { ...wishes.user, watch: work } }
  const prepared = await prepareRun(watched, home, world)
  const { reading } = prepared
  const ports = watchSummary(prepared.setup.ports, onSummary)
  const setup = {
    ...prepared.setup,
    ports,
    endsWithTurn: false,
    howToCompact: howToCompact(HOW_TO_COMPACT, reading),
  }
  const conversation = openConversation(setup)
  const { sizeTokens, totals } = conversation
  const at = { figures: firstFigures(sizeTokens(), totals()), isClosed: false }
  const model = wishes.chosen?.model ?? prepared.opened.choices.model
  const keeper = createChoiceKeeper({ ...prepared, model }, conversation)
  const spentUsd = (): number => totals().costUsd
  const followed = <T>(events: AsyncGenerator<LoopEvent, T>): AsyncGenerator<LoopEvent, T> =>
    relay(events, (event) => {
      at.figures = figuresAfter(at.figures, event, { spentUsd, size: sizeTokens })
      return event
    })
  const measured = async <T>(work: Promise<T>): Promise<T> => {
    const outcome = await work
    at.figures = estimated(at.figures, sizeTokens(), spentUsd())
    return outcome
  }
  return {
    ...conversation,
    prepared,
    get facts() {
      const { window, autoEnabled, ...read } = reading()
      const thresholds = thresholdsInForce(conversation.view(), read.thresholds)
      const mode = modeMark(prepared.permissions.mode())
      const running = runningText(prepared.dreaming.tasks.list())
      const task = prepared.agents.isWaitedFor() ? `${running} (Ctrl-B: background)` : running
      return { model: setup.prefix.model, window, thresholds, autoEnabled, mode, task }
    },
    figures: () => at.figures,
    say: (text, signal) => followed(say(text, conversation, prepared, signal)),
    listen: (signal) => followed(withAfterTurn(conversation.listen(signal), conversation, prepared)),
    work,
    keepChoices: keeper.keep,
    runShell: async (command, signal) =>
      await measured(runShell(command, conversation, { ...prepared, work }, signal)),
    compact: (wish, signal) => followed(conversation.compact(wish, signal)),
    undo: async (id) => await measured(conversation.undo(id)),
    pin: async (targets, on) => await measured(conversation.pin(targets, on)),
    restore: async (id) => await measured(conversation.restore(id)),
    close: async () => {
      if (at.isClosed) return
      at.isClosed = true
      await prepared.agents.end()
      // In parallel, so that one does not wait for the other. When the conversation closes, the cost of the dream is on the bill.
      await Promise.all([drive(conversation.settle(LEAVING_WAIT_MS)), prepared.dreaming.close()])
      await conversation.close(0)
      await keeper.settle()
      await prepared.close(conversation.isKept())
    },
  }
}

const HOW_TO_COMPACT = 'Type /compact to compact the conversation, then continue.'

async function* say(
  text: string,
  conversation: Conversation,
  { setup, afterTurn }: PreparedRun,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, undefined> {
  const { content, files, notices } = await attachFiles(text, setup, signal)
  for (const notice of notices) yield { type: 'notice', text: notice }
  const sent = conversation.send({ content, files, words: text }, signal)
  return yield* withAfterTurn(sent, conversation, { afterTurn })
}

async function* withAfterTurn<T>(
  events: AsyncGenerator<LoopEvent, T>,
  conversation: Conversation,
  { afterTurn }: Pick<PreparedRun, 'afterTurn'>,
): AsyncGenerator<LoopEvent, T> {
  let outcome: string | undefined
  const result = yield* relay(events, (event) => {
    if (event.type === 'turn-end') outcome = event.end.reason
    return event
  })
  if (outcome !== undefined) await afterTurn(conversation.log(), outcome)
  return result
}

async function runShell(
  command: string,
  conversation: Conversation,
  { setup, allowOwn, work }: PreparedRun & Pick<HostedConversation, 'work'>,
  signal: AbortSignal,
): Promise<EndedWork> {
  const { toolUseId, output } = await runUserCommand(command, { tools: setup.tools, allowOwn }, signal)
  const text = typeof output.content === 'string' ? output.content : JSON.stringify(output.content)
  const content = `${SHELL_HEAD}${command}\n\n${text}`
  await drive(conversation.add({ content, words: `!${command}` }, signal))
  return work.takeEnded(toolUseId) ?? { tookMs: 0, output }
}
