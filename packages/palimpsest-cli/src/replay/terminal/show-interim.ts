import type { Row, SessionReport } from 'palimpsest/replay'

import type { World } from '../../world.ts'
import type { SessionTask, TaskMessage } from '../session-task.ts'
import { padName } from './terminal-style.ts'

// Prints what is known so far on stderr during a long replay: early at first, then less and less often.

const FIRST_AFTER_MS = 4_000
const NEXT_FACTOR = 3

/** Fewer steps in total say little: nothing has left a window yet. */
const STEPS_TELLING = 30

/** Strategies that a running session needs before a comparison makes sense: the reference, palimpsest and the other tools. */
const ROWS_TELLING = 11

/** After this long wait, whatever is known is shown. */
const ANYTHING_AFTER_MS = 8_000

export function createInterim(tasks: readonly SessionTask[], world: World): (message: TaskMessage) => void {
  const started = world.now()
  const done: SessionReport[] = []
  /** Rows of sessions under way. */
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
    const waitedMs = world.now() - started
    if (ended === tasks.length || waitedMs < dueMs) return
    const largestFirst = [...rows].toSorted(([a], [b]) => bytesOf(tasks, b) - bytesOf(tasks, a))
    const underWay = largestFirst.map(([, own]) => own)
    const known = toShow(done, underWay, {
      rowsMin: Math.min(ROWS_TELLING, tasks[0]?.strategies.length ?? 0),
      takesAnything: waitedMs >= ANYTHING_AFTER_MS,
    })
    if (!known) return
    while (waitedMs >= dueMs) dueMs *= NEXT_FACTOR
    const text = printInterim(known, { ended, tasks })
    world.printError(`${clearLine(world)}${text}`)
  }
}

interface Known {
  readonly sessions: readonly (readonly Row[])[]
  /** The session is still under way. */
  readonly isPart: boolean
}

/** Whole sessions, if they are long enough; otherwise the largest session under way with enough rows. */
function toShow(
  done: readonly SessionReport[],
  underWay: readonly (readonly Row[])[],
  { rowsMin, takesAnything }: { readonly rowsMin: number; readonly takesAnything: boolean },
): Known | undefined {
  const whole: Known = { sessions: done.map(ownRows), isPart: false }
  if (done.reduce((sum, { steps }) => sum + steps, 0) >= STEPS_TELLING) return whole
  const telling = underWay.find((rows) => rows.length >= rowsMin && rows[0]?.frr_line !== null)
  if (telling) return { sessions: [telling], isPart: true }
  if (!takesAnything) return undefined
  if (done.length > 0) return whole
  return underWay[0] ? { sessions: [underWay[0]], isPart: true } : undefined
}

function bytesOf(tasks: readonly SessionTask[], index: number): number {
  return tasks.find((task) => task.index === index)?.file.bytes ?? 0
}

function printInterim(
  { sessions, isPart }: Known,
  { ended, tasks }: { readonly ended: number; readonly tasks: readonly SessionTask[] },
): string {
  const first = sessions[0]?.[0]
  const at = first ? ` at ${first.window.toLocaleString('en-US')} tokens` : ''
  const title = isPart
    ? `So far, one session under way, of ${tasks.length} files${at}:`
    : `So far, ${ended} of ${tasks.length} files${at}:`
  const there = new Set(sessions.flat().map(({ strategy }) => strategy))
  const names = (tasks[0]?.strategies ?? []).filter((name) => there.has(name))
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
    return padName(name) + figures.map((figure) => figure.padStart(7)).join('')
  })
  const head = padName('') + ['cost', 'line', 'edit'].map((word) => word.padStart(7)).join('')
  return [title, head, ...lines, ''].join('\n')
}

/** Without the controls. */
function ownRows({ strategies }: SessionReport): readonly Row[] {
  return strategies.filter((row) => row.at === undefined && row.cache_hit_rate !== null)
}

function meanOf(values: readonly (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null)
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : undefined
}

function clearLine({ errorTerminal }: World): string {
  return errorTerminal ? '\r\u001B[2K' : ''
}
