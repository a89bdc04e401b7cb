import { toPrintable } from '../../agent/printable.ts'
import { isRunning, type BackgroundTask } from '../../tasks/background-task.ts'
import { line } from '../text/styled-line.ts'
import { note, tell, type CommandPlace } from './command-place.ts'

/** Background tasks: the list, one of them, or its end. `/tasks`, `/tasks ID`, `/tasks kill ID`. */
export async function tasks(words: string, place: CommandPlace): Promise<undefined> {
  const { dreaming } = place.conversation.prepared
  const all = dreaming.tasks.list()
  if (all.length === 0) return tell('there are no background tasks', place)
  const [first = '', second = ''] = words.split(/\s+/)
  const typed = first === 'kill' ? second : first
  const named = typed === '' ? await pickTask(all, place) : all.filter(({ id }) => id.startsWith(typed))
  const [task, ...others] = named
  if (task === undefined || others.length > 0)
    return typed === '' ? undefined : note(`there is no one task "${typed}"; /tasks lists them`, place)
  if (first === 'kill') return await kill(task, place)
  return await watch(task, place)
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
  return `${task.id}  ${task.kind}  ${state}  ${seconds} s, ${toolCount} tool calls  ${text}`
}

/** As it is now, and again whenever the user wants to look. */
async function watch(task: BackgroundTask, place: CommandPlace): Promise<undefined> {
  const { ui, world } = place
  for (;;) {
    const { files, turns } = task.status()
    ui.show([
      line(toPrintable(rowOf(task, world.now()))),
      ...(files.length === 0 ? [] : [line(toPrintable(`  files: ${files.join(', ')}`))]),
      ...turns.map((turn) => line(toPrintable(`  ${turn}`), 'dim')),
      [],
    ])
    if (!isRunning(task.status())) return undefined
    const answer = await ui.pick({
      title: `${task.kind} ${task.id}`,
      items: [
        { label: 'Look again', letter: 'l', value: 'look' },
        { label: 'End it', letter: 'e', value: 'end' },
        { label: 'Back', letter: 'b', value: 'back' },
      ],
    })
    if (answer === 'end') return await kill(task, place)
    if (answer !== 'look') return undefined
  }
}

async function kill(task: BackgroundTask, place: CommandPlace): Promise<undefined> {
  if (!isRunning(task.status())) return tell(`${task.id} has ended already`, place)
  task.kill()
  await task.ended
  return tell(task.status().text, place)
}
