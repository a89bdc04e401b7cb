import type { PooledRow, ReplayReport } from '../../packages/palimpsest/src/lab/replay/report.ts'
import { sayClaim } from './claim.ts'

// The table that README shows: what each strategy costs and keeps, window by window. It stands in FIGURES.md too, word for word.

const BEGIN = '<!-- replay figures: written by `npm run bench:replay` -->'
const END = '<!-- end of replay figures -->'

/** Strategies of a few lines that nobody uses as they are, and parts left out one by one; FIGURES.md has them. */
const LEFT_OUT = /^(?:drop-oldest|mask-|batch|empty|palimpsest-(?:no-|tail-))/

export function summarise(report: ReplayReport, machine: string): string {
  const { sessions, windows } = report
  const steps = sessions.reduce((sum, session) => sum + session.steps, 0)
  const projects = new Set(sessions.map(({ project }) => project)).size
  const names = (windows[0]?.strategies ?? [])
    .filter((row) => row.at === undefined && !LEFT_OUT.test(row.strategy))
    .map((row) => row.strategy)
  const titles = windows.flatMap(({ window }) => [`${window / 1000}K: cost`, 'line', 'edit', 'whole'])
  return [
    BEGIN,
    '',
    `| strategy | ${titles.join(' | ')} |`,
    `| --- |${' ---: |'.repeat(titles.length)}`,
    ...names.map((name) => {
      const cells = windows.flatMap(({ strategies }) =>
        cellsOf(strategies.find((row) => row.at === undefined && row.strategy === name)),
      )
      return name === 'palimpsest'
        ? `| **${name}** | ${cells.map((cell) => `**${cell}**`).join(' | ')} |`
        : `| ${name} | ${cells.join(' | ')} |`
    }),
    '',
    `${sessions.length} recorded sessions of ${projects} projects, ${steps.toLocaleString('en-US')} steps; nothing was tuned on these projects. ${machine}. A star: some requests did not fit in the window.`,
    '',
    'Palimpsest compared with each strategy and with plain tails on the same sessions; bold where the 95% interval of the difference, drawn by project, excludes 0:',
    '',
    ...sayClaim(report),
    '',
    END,
  ].join('\n')
}

/** The text with the summary in place of the one it has. */
export function putSummary(text: string, summary: string): string {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`no place for the summary: ${BEGIN} … ${END}`)
  return text.slice(0, from) + summary + text.slice(to + END.length)
}

/** The summary that a text has. */
export function findSummary(text: string): string | undefined {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  return from < 0 || to < from ? undefined : text.slice(from, to + END.length)
}

function cellsOf(row: PooledRow | undefined): string[] {
  if (!row) return ['-', '-', '-', '-']
  const star = (row.invalid_requests ?? 0) > 0 ? '*' : ''
  const cost = row.cost_ratio === null ? '-' : `${Math.round(row.cost_ratio * 100)}%`
  return [`${cost}${star}`, share(row.frr_line), share(row.edit_line), share(row.edit_whole)]
}

function share(value: number | null): string {
  return value === null ? '-' : value.toFixed(3)
}
