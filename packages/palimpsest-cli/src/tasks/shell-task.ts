import type { BackgroundShell, Shells } from '../agent/shell/shells.ts'
import type { BackgroundTask, Tasks, TaskState } from './background-task.ts'

/** From now on, lists commands that go to the background among the tasks. */
export function listShells(
  { onBackground }: Pick<Shells, 'onBackground'>,
  tasks: Pick<Tasks, 'add' | 'changed'>,
  now: () => number,
): void {
  onBackground((shell) => {
    const task = shellTask(shell, now)
    tasks.add(task)
    void task.ended.then(tasks.changed)
  })
}

/** A command in the background, as the user sees it: its newest output, and how it ended. */
function shellTask({ id, command, shell, end, recent }: BackgroundShell, now: () => number): BackgroundTask {
  const startedAt = now()
  let endedAt: number | undefined
  const ended = shell.ended.then(() => {
    endedAt = now()
  })
  return {
    id,
    kind: COMMAND,
    title: id,
    status: () => ({
      state: stateOf(end()),
      text: textOf(command, end()),
      toolCount: 0,
      files: [],
      turns: recent().trimEnd().split('\n').filter(Boolean),
      startedAt,
      endedAt,
    }),
    kill: shell.kill,
    ended,
  }
}

export const COMMAND = 'command'

function stateOf(end: ReturnType<BackgroundShell['end']>): TaskState {
  if (end === undefined) return 'updating'
  if (end.kind === 'killed') return 'killed'
  return end.kind === 'exited' && end.code === 0 ? 'completed' : 'failed'
}

function textOf(command: string, end: ReturnType<BackgroundShell['end']>): string {
  const [first = ''] = command.split('\n')
  return end?.kind === 'exited' ? `${first} (exit code ${end.code})` : first
}
