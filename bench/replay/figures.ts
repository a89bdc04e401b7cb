import {
  pairStrategies,
  type Difference,
  type PairedRow,
} from '../../packages/palimpsest/src/lab/replay/pair-strategies.ts'
import type { PooledRow, ReplayReport } from '../../packages/palimpsest/src/lab/replay/report.ts'
import { ABLATIONS } from '../../packages/palimpsest/src/lab/replay/strategies/palimpsest.ts'
import { measureHash } from './measure-hash.ts'

// FIGURES.md: every figure of every strategy, ours against the others, what its parts bring, and the controls.

export interface FigureFacts {
  /** When, where, and how long it took. */
  readonly machine: string
  /** As it stands in README. */
  readonly summary: string
  readonly half: 'tuning' | 'held-out'
}

const OWN = 'palimpsest'
const HASH_CHARS = 16

export function figures(report: ReplayReport, { machine, summary, half }: FigureFacts): string {
  const { sessions, windows } = report
  const steps = sessions.reduce((sum, session) => sum + session.steps, 0)
  const sole = sessions.reduce((sum, session) => sum + session.sole_references, 0)
  const edits = sessions.reduce((sum, session) => sum + session.edit_lines, 0)
  const texts = sessions.reduce((sum, session) => sum + session.edit_texts, 0)
  const projects = Map.groupBy(sessions, ({ project }) => project)
  const projectList = [...projects].map(([name, of]) => `${name} ${of.length}`).join(', ')
  return [
    `# Replay: figures of the projects that are for ${half === 'tuning' ? 'tuning' : 'reporting'}`,
    '',
    'Written by `npm run bench:replay`; what the columns mean and cannot say is in `docs/replay.md`.',
    '',
    `- ${machine}`,
    `- measure ${measureHash().slice(0, HASH_CHARS)}`,
    `- ${sessions.length} sessions of ${projects.size} projects (${projectList}), none left out`,
    `- ${steps} steps, ${sole} sole-source references, ${edits} lines to edit, ${texts} texts to edit that stood in one piece`,
    '- means over sessions; intervals from drawing projects',
    '',
    summary,
    ...windows.flatMap(({ window }) => ofWindow(report, window)),
    '',
  ].join('\n')
}

function ofWindow({ sessions, windows }: ReplayReport, window: number): string[] {
  const rows = windows.find((one) => one.window === window)?.strategies ?? []
  const paired = pairStrategies(sessions, window, OWN)
  return [
    '',
    `## Window ${window.toLocaleString('en-US')}`,
    '',
    ...table(rows),
    '',
    `${OWN} minus each other strategy on the same sessions, with 95% intervals; cost in points of the unmanaged cost. Bold where the interval excludes 0.`,
    '',
    ...differences(
      paired.filter((row) => !isAblation(row.against)),
      'against',
    ),
    '',
    `What each part contributes: ${OWN} minus the same without it, or with another in its place.`,
    '',
    ...differences(
      paired.filter((row) => isAblation(row.against)),
      'other',
    ),
    '',
    "Controls at the strategy's own token count: sole, related, line, quoted line, edit, whole, errors.",
    '',
    ...controls(rows),
  ]
}

function isAblation(strategy: string): boolean {
  return ABLATIONS.some(({ name }) => name === strategy)
}

function differences(rows: readonly PairedRow[], title: string): string[] {
  return [
    `| ${title} | cost | line | edit | whole |`,
    '| --- | --- | --- | --- | --- |',
    ...rows.map((row) => {
      const cells = [
        difference(row.cost_ratio, points),
        difference(row.frr_line, share),
        difference(row.edit_line, share),
        difference(row.edit_whole, share),
      ]
      return `| ${row.against} | ${cells.join(' | ')} |`
    }),
  ]
}

function difference(value: Difference | null, show: (part: number) => string): string {
  if (!value) return '-'
  const { mean, low, high } = value
  const text = `${show(mean)} (${show(low)} to ${show(high)})`
  return low > 0 || high < 0 ? `**${text}**` : text
}

function points(value: number): string {
  return (value * 100).toFixed(1)
}

function table(rows: readonly PooledRow[]): string[] {
  const titles =
    'strategy, cost, $, hit, breaks, rewritten, compactions, stops, peak, invalid, sole, related, line, quoted line, edit, quoted edit, whole, worst tenth (line), user, prohibitions, paths, last op, to-dos, errors, order, recoverable, refetch, cascade, made, excerpts'.split(
      ', ',
    )
  return [
    `| ${titles.join(' | ')} |`,
    `|${' --- |'.repeat(titles.length)}`,
    ...rows
      .filter((row) => row.at === undefined)
      .map((row) => `| ${row.strategy} | ${cells(row).join(' | ')} |`),
  ]
}

function cells(row: PooledRow): string[] {
  return [
    percent(row.cost_ratio),
    row.cost_usd?.toFixed(2) ?? '-',
    percent(row.cache_hit_rate),
    whole(row.breaks),
    thousands(row.rewritten_tokens),
    whole(row.compactions),
    whole(row.stops),
    thousands(row.peak_tokens),
    whole(row.invalid_requests),
    withInterval(row, 'frr_sole'),
    withInterval(row, 'frr_related'),
    withInterval(row, 'frr_line'),
    share(row.frr_line_quoted),
    withInterval(row, 'edit_line'),
    share(row.edit_line_quoted),
    withInterval(row, 'edit_whole'),
    share(row.p10['frr_line']),
    share(row.user_words),
    share(row.prohibitions),
    share(row.modified_path_recall),
    share(row.last_operation),
    share(row.open_todos),
    share(row.unresolved_errors),
    share(row.order),
    share(row.recoverable),
    thousands(row.refetch_tokens),
    share(row.cascade_loss),
    `${percent(row.engine_text_share)}${row.engine_text_red ? ' (red)' : ''}`,
    percent(row.excerpt_share),
  ]
}

function controls(rows: readonly PooledRow[]): string[] {
  const names = ['random', 'soup', 'crumbs', 'oracle', 'time-reversed']
  const columns = [
    'frr_sole',
    'frr_related',
    'frr_line',
    'frr_line_quoted',
    'edit_line',
    'edit_whole',
    'unresolved_errors',
  ] as const
  const managed = rows.filter(
    (row) =>
      row.at === undefined && row.cost_usd !== null && row.strategy !== 'none' && !isAblation(row.strategy),
  )
  return [
    `| strategy | ${names.join(' | ')} |`,
    `|${' --- |'.repeat(names.length + 1)}`,
    ...managed.map((row) => {
      const shown = names.map((name) => {
        const control = rows.find((one) => one.at === row.strategy && one.strategy === name)
        return columns.map((column) => share(control?.[column])).join(' ')
      })
      return `| ${row.strategy} | ${shown.join(' | ')} |`
    }),
  ]
}

type ShownColumn = 'frr_sole' | 'frr_related' | 'frr_line' | 'edit_line' | 'edit_whole'

function withInterval(row: PooledRow, column: ShownColumn): string {
  const bounds = row.ci[column]
  return bounds ? `${share(row[column])} (${share(bounds.low)}–${share(bounds.high)})` : '-'
}

function share(value: number | null | undefined): string {
  return value === null || value === undefined ? '-' : value.toFixed(3)
}

function percent(value: number | null): string {
  return value === null ? '-' : `${Math.round(value * 100)}%`
}

function whole(value: number | null): string {
  return value === null ? '-' : value.toFixed(1).replace(/\.0$/, '')
}

function thousands(value: number | null): string {
  return value === null ? '-' : `${Math.round(value / 1000)}K`
}
