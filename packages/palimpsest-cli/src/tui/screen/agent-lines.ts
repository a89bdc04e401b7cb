import { toPrintable } from '../../agent/printable.ts'
import { isRunning, type AgentOfTask, type BackgroundTask } from '../../tasks/background-task.ts'
import type { TeamRow } from '../../team/leading/team-host.ts'
import { line, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth, textWidth } from '../text/text-width.ts'
import { dollars, shortCount } from './status-line.ts'

// The agents at work, below the input: each with what it does and what it has cost; sub-agents below their parent. Empty if none works.

/** More rows would push the conversation off a small screen. */
const ROWS_MAX = 8

interface Node {
  readonly task: BackgroundTask
  readonly agent: AgentOfTask
}

export function agentLines(tasks: readonly BackgroundTask[], columns: number): readonly StyledLine[] {
  // The list has the newest first; on the screen the order stays as they started.
  const nodes = tasks
    .toReversed()
    .flatMap((task) => (task.agent && isRunning(task.status()) ? [{ task, agent: task.agent }] : []))
  const known = new Set(nodes.map(({ task }) => task.id))
  const roots = nodes.filter(({ agent: { parent } }) => parent === undefined || !known.has(parent))
  const rows = roots.flatMap((node, place) =>
    rowsOf(node, nodes, { indent: '', isLast: place === roots.length - 1 }, columns),
  )
  if (rows.length <= ROWS_MAX) return rows
  const shown = rows.slice(0, ROWS_MAX - 1)
  return [...shown, line(`  and ${rows.length - shown.length} more: /tasks lists them`, 'dim')]
}

/** Teammates, each with what it does and what it has cost. */
export function teamLines(rows: readonly TeamRow[], columns: number): readonly StyledLine[] {
  return rows.map(({ name, state, doing, tokens, costUsd }, place) => {
    const start = place === rows.length - 1 ? '└ ' : '├ '
    const end = `${doing === state ? '' : ` · ${state}`} · ${shortCount(tokens)} tokens · $${dollars(costUsd)}`
    const text = toPrintable(`${start}${name}: ${doing}`).replaceAll('\n', ' ')
    const room = Math.max(1, columns - textWidth(end))
    return line(cutToWidth(`${cutToWidth(text, room)}${end}`, columns), 'dim')
  })
}

interface Branch {
  readonly indent: string
  readonly isLast: boolean
}

function rowsOf(
  node: Node,
  all: readonly Node[],
  { indent, isLast }: Branch,
  columns: number,
): readonly StyledLine[] {
  const below = all.filter(({ agent }) => agent.parent === node.task.id)
  const next = `${indent}${isLast ? '  ' : '│ '}`
  return [
    line(rowText(node, `${indent}${isLast ? '└ ' : '├ '}`, columns), 'dim'),
    ...below.flatMap((child, place) =>
      rowsOf(child, all, { indent: next, isLast: place === below.length - 1 }, columns),
    ),
  ]
}

/** The figures at the end stay whole; text that is too long is cut before them. */
function rowText({ task, agent }: Node, start: string, columns: number): string {
  const { tokens, costUsd } = agent.spent()
  const where = agent.isBackground() ? ' · background' : ''
  const end = `${where} · ${shortCount(tokens)} tokens · $${dollars(costUsd)}`
  const text = toPrintable(`${start}${agent.type}: ${agent.description} · ${task.status().text}`)
  const room = Math.max(1, columns - textWidth(end))
  return cutToWidth(`${cutToWidth(text.replaceAll('\n', ' '), room)}${end}`, columns)
}
