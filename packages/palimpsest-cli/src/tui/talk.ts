import { drive } from 'palimpsest/conversation'
import type { LoopEvent } from 'palimpsest/loop'
import type { BoundaryEntry } from 'palimpsest/transcript'

import { addTyped, typedMemory } from '../memory/add-typed.ts'
import { sentenceOf } from '../report-error.ts'
import type { RunWishes } from '../run/set-scene.ts'
import type { World } from '../world.ts'
import { note, tell, type CommandEnd, type CommandPlace } from './commands/command-place.ts'
import { openTranscriptPage, openRemovedPage } from './commands/open-pages.ts'
import { runCommand } from './commands/run-command.ts'
import { rewind } from './commands/rewind.ts'
import { coldCost } from './host/cold-cost.ts'
import type { HostedConversation } from './host/host-conversation.ts'
import { removedBy } from './host/removed-by.ts'
import { findTooLong } from './host/too-long.ts'
import type { TeamHost } from '../team/leading/team-host.ts'
import { agentLines, teamLines } from './screen/agent-lines.ts'
import { modeWords, nextMode } from './screen/mode-words.ts'
import { statusLine } from './screen/status-line.ts'
import { shellLines } from './screen/tool-lines.ts'
import { noteLines, showEvent, TURN_START, type RemovedCounts, type TurnScreen } from './screen/turn-lines.ts'
import { endMarkdown } from './text/markdown-lines.ts'
import { toPrintable } from '../agent/printable.ts'
import { MAIN } from '../team/correspondent.ts'
import { letterLine } from '../team/letter-line.ts'
import type { Ui, UserAct } from './ui.ts'

// What the user says, message by message, and how each is handled.

export interface TalkSetup {
  readonly wishes: RunWishes
  /** The first message; empty for none. */
  readonly prompt: string
  /** Begins with the list of sessions. */
  readonly picks: boolean
  /** Shows which conversation this is, unless the user picked one from that list. */
  readonly begin: () => void
  readonly ui: Ui
  readonly world: World
  /** The team that it leads. */
  readonly team?: TeamHost | undefined
}

/** What to open next; undefined if the user leaves. */
export async function talk(conversation: HostedConversation, setup: TalkSetup): Promise<CommandEnd> {
  const { ui, wishes, world, team } = setup
  const place: CommandPlace = {
    conversation,
    wishes,
    ui,
    world,
    team,
    follow: async (events) => await follow(events, conversation, ui),
    interruptible: async (work, told = 'interrupted') => await interruptible(work, told, ui, world.signal),
  }
  conversation.prepared.dreaming.tasks.onChange(() => showStatus(conversation, ui))
  showAgents(place)
  ui.setLive({
    agents: () => [
      ...agentLines(conversation.prepared.dreaming.tasks.list(), ui.columns()),
      ...teamLines(team?.rows() ?? [], ui.columns()),
    ],
  })
  showStatus(conversation, ui)
  ui.setPages({
    transcript: async () => await openTranscriptPage(conversation),
    removed: async () => await openRemovedPage(conversation, ui.columns()),
  })
  ui.setModeKey(() => {
    const { permissions } = conversation.prepared
    permissions.setMode(nextMode(permissions.mode()))
    conversation.keepChoices()
    showStatus(conversation, ui)
    return `${modeWords(permissions.mode())} · Shift-Tab: the next mode`
  })
  ui.setBackgroundKey(() => movedWords(conversation))
  const picked = setup.picks ? await runCommand('/resume', place) : undefined
  if (picked?.next) return { next: withFlags(picked.next) }
  if (setup.picks) setup.begin()
  if (setup.prompt !== '') await sayTo(setup.prompt, place)
  let said: Promise<UserAct> | undefined
  while (!world.signal.aborted && !conversation.prepared.agents.post.main.isLeaving()) {
    await team?.afterTurn()
    said ??= ui.next()
    const act = await actOrMail(said, conversation, world.signal)
    if (act === 'mail') {
      await interruptible(
        async (signal) => void (await place.follow(conversation.listen(signal))),
        'interrupted',
        ui,
        world.signal,
      )
      continue
    }
    said = undefined
    if (act.kind === 'quit') return undefined
    try {
      const end = act.kind === 'rewind' ? await rewind(place) : await takeWords(act.text, place)
      if (end) return end
    } catch (error) {
      // Whatever went wrong, the conversation is as it was, and continues.
      note(sentenceOf(error), place)
    }
    showStatus(conversation, ui)
  }
  return undefined
}

/** A user who gives --resume and --model means both for the same session. */
function withFlags(wishes: RunWishes): RunWishes {
  const { session } = wishes
  return session.kind === 'resume' ? { ...wishes, session: { ...session, keepsModel: false } } : wishes
}

/** Results of background agents, and what agents write to each other. */
function showAgents(place: CommandPlace): void {
  const { conversation } = place
  conversation.prepared.agents.onEvent((event) => {
    if (event.kind !== 'ended' || !event.agent.isBackground) return
    const { id, type, description, state } = event.report
    tell(
      `agent ${id} (${type}: ${toPrintable(description)}) ${state}; the model reads its report with your next message`,
      place,
    )
  })
  conversation.prepared.agents.post.onSent(({ from, to, summary }) => {
    // The conversation's own messages already show as calls.
    if (from !== MAIN) tell(letterLine({ from: `${from} to ${to}`, summary }), place)
  })
}

/** A conversation with a seat in a team answers messages from others while the user is silent. */
async function actOrMail(
  said: Promise<UserAct>,
  { prepared: { seated, agents } }: HostedConversation,
  signal: AbortSignal,
): Promise<UserAct | 'mail'> {
  if (!seated) return await said
  const stop = new AbortController()
  const arrived = agents.post.main.arrived(AbortSignal.any([signal, stop.signal])).then(() => 'mail' as const)
  try {
    return await Promise.race([said, arrived])
  } finally {
    stop.abort()
  }
}

function movedWords({ prepared }: HostedConversation): string | undefined {
  const moved = prepared.agents.toBackground()
  if (moved.length === 0) return undefined
  return `${moved.length === 1 ? 'the agent works' : `${moved.length} agents work`} in the background now; /tasks shows what they do`
}

async function takeWords(text: string, place: CommandPlace): Promise<CommandEnd> {
  const isCommand = /^\/[a-z]+(\s|$)/.test(text)
  const remembered = typedMemory(text)
  // Above its output.
  if (isCommand || remembered !== undefined) place.ui.showSaid(text)
  if (isCommand) return await runCommand(text, place)
  if (remembered !== undefined) await remember(remembered, place)
  else if (text.startsWith('!')) await runShell(text.slice(1).trim(), place)
  else await sayTo(text, place)
  return undefined
}

/** This conversation stays as it is: the next one begins with the memory. */
async function remember(text: string, place: CommandPlace): Promise<void> {
  const { conversation, world } = place
  const { project } = conversation.prepared.opened
  const { outcome, told } = await addTyped(text, project, world, conversation.id)
  if (outcome.kind === 'written') tell(`memory: ${toPrintable(told)}`, place)
  else note(`memory: ${toPrintable(told)}`, place)
}

async function sayTo(text: string, place: CommandPlace): Promise<void> {
  const { conversation, ui, follow, interruptible } = place
  const tooLong = findTooLong(text, conversation)
  if (tooLong !== undefined) {
    note(tooLong, place)
    return ui.setInput(text)
  }
  const how = await askWhenCold(place)
  if (how === undefined) return ui.setInput(text)
  if (how === 'compact') await runCommand('/compact', place)
  ui.showSaid(text)
  await interruptible(async (signal) => void (await follow(conversation.say(text, signal))))
}

/** After an idle hour the user decides, knowing the price. Undefined: neither. */
async function askWhenCold({ conversation, ui, world }: CommandPlace): Promise<string | undefined> {
  const cost = coldCost(conversation.log(), conversation.figures(), conversation.facts.model, world.now())
  if (cost === undefined) return 'send'
  return await ui.pick({
    title: `The cache has expired: the next request costs about $${cost.toFixed(2)}`,
    items: [
      { label: 'Send it as it is', letter: 's', value: 'send' },
      { label: 'Compact first', letter: 'c', value: 'compact' },
    ],
  })
}

async function runShell(command: string, { conversation, ui, interruptible }: CommandPlace): Promise<void> {
  if (command === '')
    return ui.show(noteLines('type a command after the !, for example !ls', 'warning', ui.columns()))
  ui.showSaid(`!${command}`)
  const printing = () => conversation.work.printing(ui.columns())
  ui.setLive({ activity: `Running ${toPrintable(command)}`, printing })
  await interruptible(async (signal) => {
    const work = await conversation.runShell(command, signal)
    ui.show([...shellLines({ command }, work, ui.columns(), ui.ways.toAll), []])
  })
}

/** Runs something that Esc can end. Errors are shown, and the conversation continues. */
async function interruptible(
  work: (signal: AbortSignal) => Promise<void>,
  told: string,
  ui: Ui,
  ending: AbortSignal,
): Promise<void> {
  const stop = new AbortController()
  ui.setInterrupt(() => stop.abort())
  try {
    await work(AbortSignal.any([stop.signal, ending]))
  } catch (error) {
    const text = sentenceOf(error)
    ui.show([...noteLines(stop.signal.aborted ? told : text, 'error', ui.columns()), []])
  } finally {
    ui.setInterrupt(undefined)
    ui.setLive({ activity: '', streaming: () => [], printing: () => [] })
  }
}

async function follow<T>(
  events: AsyncGenerator<LoopEvent, T>,
  conversation: HostedConversation,
  ui: Ui,
): Promise<T> {
  const { toRemoved, toAll } = ui.ways
  let screen: TurnScreen = { ...TURN_START, toRemoved, toAll }
  const countRemoved = ({ id }: BoundaryEntry): RemovedCounts | undefined => {
    const removed = removedBy(conversation.view(), id)
    return removed && { gone: removed.gone.length, stayed: removed.stayed }
  }
  return await drive(events, (event) => {
    const columns = ui.columns()
    const step = showEvent(screen, event, columns, { countRemoved, workOf: conversation.work.takeEnded })
    screen = step.screen
    const { activity, markdown } = screen
    if (step.lines.length > 0) ui.show(step.lines)
    ui.setLive({
      activity,
      streaming: () => endMarkdown(markdown, columns),
      printing: () => conversation.work.printing(columns),
      status: statusLine(conversation.figures(), conversation.facts, columns),
    })
  })
}

function showStatus(conversation: HostedConversation, ui: Ui): void {
  ui.setLive({ status: statusLine(conversation.figures(), conversation.facts, ui.columns()) })
}
