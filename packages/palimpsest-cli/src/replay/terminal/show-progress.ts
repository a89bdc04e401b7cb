import { toPrintable } from '../../agent/printable.ts'
import type { World } from '../../world.ts'
import type { SessionTask, TaskMessage } from '../session-task.ts'

/** Shows progress on stderr: a single line that is overwritten on a terminal, otherwise one line per session. */
export function createProgress(
  tasks: readonly SessionTask[],
  world: World,
  options: {
    /** Names files that are not replayed: a user who gave them wants to know. */
    readonly namesSkipped: boolean
    readonly debug: boolean
  },
): (message: TaskMessage) => void {
  const { errorTerminal } = world
  let ended = 0
  const nameOf = (index: number): string => toPrintable(tasks[index]?.file.name ?? '').replaceAll('\n', ' ')
  const over = (text: string): void => {
    if (!errorTerminal) return
    world.printError(`\r\u001B[2K${text.slice(0, errorTerminal.columns - 1)}`)
  }
  return (message) => {
    const name = nameOf(message.index)
    if (message.kind === 'row') {
      // Formatting the first number takes as long as replaying a small session, and no one would see this line.
      if (!errorTerminal && tasks.length > 1) return
      const { strategy, window, cost_ratio: ratio, frr_line: line } = message.row
      const figures = [
        ...(ratio === null ? [] : [`${Math.round(ratio * 100)}% of the cost`]),
        ...(line === null ? [] : [`lines ${line.toFixed(3)}`]),
      ]
      const text = `${ended}/${tasks.length} ${name}: ${strategy} at ${window.toLocaleString('en-US')}: ${figures.join(', ')}`
      // A single session shows each strategy as it is ready.
      if (errorTerminal) over(text)
      else world.printError(`${text}\n`)
      return
    }
    ended++
    over('')
    if (message.kind === 'skipped' && options.namesSkipped)
      world.printError(`palimpsest: ${name}: skipped: ${message.why}\n`)
    if (message.kind === 'failed') {
      const stack = options.debug ? `\n${message.stack}` : ''
      world.printError(`palimpsest: ${name}: ${message.what}${stack}\n`)
    }
    if (message.kind === 'done') {
      if (message.note !== undefined) world.printError(`palimpsest: ${name}: ${message.note}\n`)
      world.printError(`${ended}/${tasks.length} ${name}: ${message.report.steps} steps\n`)
    }
  }
}
