import type { Row, SessionReport } from 'palimpsest/replay'

import type { World } from '../../world.ts'
import type { TaskMessage } from '../session-task.ts'

// While a long replay runs: what is known so far, on stderr, soon at first and then ever more seldom.

const FIRST_AFTER_MS = 4_000
const NEXT_FACTOR = 3

const NAME_WIDTH = 13

export function createInterim(tasks: number, world: World): (message: TaskMessage) => void {
  const started = world.now()
  const done: SessionReport[] = []
  /** Of sessions under way. */
  const rows = new Map<number, Row[]>()
  let ended = 0
  let dueMs = FIRST_AFTER_MS
  return (message) => {
    if (message.kind === 'row') rows.set(message.index, [...(rows.get(message.index) ?? []), message.row])
    else {
      ended++
      rows.delete(message.index)
    }
    if (message.kind === 'done') done.push(message.report)
    if (ended === tasks || world.now() - started < dueMs) return
    const known = done.length > 0 ? done.map(ownRows) : [longest([...rows.values()])]
    if (known.every((one) => one.length === 0)) return
    while (world.now() - started >= dueMs) dueMs *= NEXT_FACTOR
    world.printError(`${clearLine(world)}${printInterim(known, { ended, tasks, whole: done.length > 0 })}`)
  }
}

function printInterim(
  sessions: readonly (readonly Row[])[],
  { ended, tasks, whole }: { readonly ended: number; readonly tasks: number; readonly whole: boolean },
): string {
  const first = sessions[0]?.[0]
  const at = first ? ` at ${first.window.toLocaleString('en-US')} tokens` : ''
  const title = whole
    ? `So far, ${ended} of ${tasks} files${at}:`
    : `So far, one session under way, of ${tasks} files${at}:`
  const names = [...new Set(sessions.flat().map(({ strategy }) => strategy))]
  const lines = names.map((name) => {
    const own = sessions.flatMap((rows) =>
      rows.filter(({ strategy, window }) => strategy === name && window === first?.window),
    )
    const cost = meanOf(own.map((row) => row.cost_ratio))
    const figures = [
      cost === undefined ? '-' : `${Math.round(cost * 100)}%`,
      ...[meanOf(own.map((row) => row.frr_line)), meanOf(own.map((row) => row.edit_line))].map(
        (share) => share?.toFixed(3) ?? '-',
      ),
    ]
    return `${name} `.padEnd(NAME_WIDTH) + figures.map((figure) => figure.padStart(7)).join('')
  })
  const head = ''.padEnd(NAME_WIDTH) + ['cost', 'line', 'edit'].map((word) => word.padStart(7)).join('')
  return [title, head, ...lines, ''].join('\n')
}

/** Without the controls. */
function ownRows({ strategies }: SessionReport): readonly Row[] {
  return strategies.filter((row) => row.at === undefined && row.cache_hit_rate !== null)
}

function longest(lists: readonly (readonly Row[])[]): readonly Row[] {
  return lists.toSorted((a, b) => b.length - a.length)[0] ?? []
}

function meanOf(values: readonly (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null)
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : undefined
}

function clearLine({ errorTerminal }: World): string {
  return errorTerminal ? '\r\u001B[2K' : ''
}
