import { taskLines } from 'palimpsest/agents'
import { openChain } from 'palimpsest/node'

import { toPrintable } from '../../agent/printable.ts'
import { isRunning, type BackgroundTask, type TaskState } from '../../tasks/background-task.ts'
import { COMMAND } from '../../tasks/shell-task.ts'
import type { TeamWork } from '../../team/team-tasks.ts'
import { conversationSource } from '../pager/conversation-source.ts'
import { line, wrapLine, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth } from '../text/text-width.ts'
import { note, tell, type CommandPlace } from './command-place.ts'

/** Background tasks: `/tasks` lists them, `/tasks ID` shows one, `/tasks kill ID` ends one. In a team, also lists the team's tasks. */
export async function tasks(words: string, place: CommandPlace): Promise<undefined> {
  const { dreaming, team } = place.conversation.prepared
  const all = dreaming.tasks.list()
  if (team && words === '') await showTeamTasks(team, place)
  if (all.length === 0) return team ? undefined : tell('no background tasks', place)
  const [first = '', second = ''] = words.split(/\s+/)
  const typed = first === 'kill' ? second : first
  const named = typed === '' ? await pickTask(all, place) : all.filter(({ id }) => id.startsWith(typed))
  const [task, ...others] = named
  if (task === undefined || others.length > 0)
    return typed === '' ? undefined : note(`no task "${typed}"; /tasks lists them`, place)
  if (first === 'kill') return await kill(task, place)
  return await watch(task, place)
}

async function showTeamTasks({ list, self, now }: TeamWork, { ui }: CommandPlace): Promise<void> {
  const lines = taskLines(await list.board(), { now: now(), self })
  ui.show([...lines.flatMap((text) => wrapLine(line(toPrintable(text)), ui.columns(), line('    '))), []])
}

async function pickTask(
  all: readonly BackgroundTask[],
  { ui, world }: CommandPlace,
): Promise<readonly BackgroundTask[]> {
  const items = all.map((task) => ({ label: toPrintable(rowOf(task, world.now())), value: task.id }))
  const id = await ui.pick({ title: 'Background tasks', items })
  return all.filter((task) => task.id === id)
}

function rowOf(task: BackgroundTask, now: number): string {
  const { state, text, toolCount, startedAt, endedAt } = task.status()
  const seconds = Math.max(0, Math.round(((endedAt ?? now) - startedAt) / 1_000))
  const how = task.kind === COMMAND ? `${seconds} s` : `${seconds} s, ${toolCount} tool calls`
  return `${task.id}  ${task.kind}  ${STATE_WORDS[state]}  ${how}  ${text}`
}

const STATE_WORDS: { readonly [state in TaskState]: string } = {
  starting: 'running',
  updating: 'running',
  completed: 'completed',
  failed: 'failed',
  killed: 'ended',
}

/** Shows a task live: the screen changes with it. */
async function watch(task: BackgroundTask, place: CommandPlace): Promise<undefined> {
  const { ui, world } = place
  const { transcript } = task
  const now = (): readonly StyledLine[] => watchedLines(task, world.now(), ui.columns())
  for (;;) {
    const isLive = isRunning(task.status())
    const answer = await ui.pick({
      title: `${task.kind} ${task.id}`,
      proposal: now,
      items: [
        ...(transcript === undefined ? [] : [{ label: 'Open its transcript', letter: 't', value: 'open' }]),
        ...(isLive ? LIVE_ITEMS : []),
        { label: 'Back', letter: 'b', value: 'back' },
      ],
    })
    if (answer === 'end') return await kill(task, place)
    if (answer === 'look') continue
    if (answer !== 'open' || transcript === undefined) {
      ui.show([...now(), []])
      return undefined
    }
    await ui.page(await conversationSource(await openChain(transcript)))
  }
}

/** Printed lines do not refresh, so the user can look again. */
const LIVE_ITEMS = [
  { label: 'Look again', letter: 'l', value: 'look' },
  { label: 'End it', letter: 'e', value: 'end' },
]

/** How many messages and calls of a task fit on a small screen beside the question. */
const TURNS_SHOWN = 8

function watchedLines(task: BackgroundTask, now: number, columns: number): readonly StyledLine[] {
  const { files, turns } = task.status()
  const hang = line('    ')
  return [
    ...wrapLine(line(toPrintable(rowOf(task, now))), columns, hang),
    ...(files.length === 0 ? [] : wrapLine(line(toPrintable(`  files: ${files.join(', ')}`)), columns, hang)),
    ...turns.slice(-TURNS_SHOWN).map((turn) => line(cutToWidth(toPrintable(`  ${turn}`), columns), 'dim')),
  ]
}

async function kill(task: BackgroundTask, place: CommandPlace): Promise<undefined> {
  if (!isRunning(task.status())) return tell(`${task.id} has already ended`, place)
  task.kill()
  await task.ended
  const { text } = task.status()
  return tell(task.kind === COMMAND ? `${task.id} was ended` : text, place)
}
