import { spawnSync } from 'node:child_process'
import { existsSync, globSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join, relative } from 'node:path'

import { half } from '../../packages/palimpsest/src/replay/half.ts'
import type { PooledRow, ReplayReport } from '../../packages/palimpsest/src/replay/report.ts'
import { measureHash } from './measure-hash.ts'

// Writes bench/replay/FIGURES.md: the figures of the half that is for reporting, with date and machine. What is tuned sees the other half.
//   node --conditions=x-source bench/replay/run.ts [tuning]

const ROOT = join(import.meta.dirname, '../..')
const SESSIONS = join(ROOT, '../shared/data/sessions')
const WINDOWS = [100_000, 200_000]
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024
const BYTES_PER_GB = 1024 ** 3

const wanted = process.argv.includes('tuning') ? 'tuning' : 'held-out'
if (!existsSync(SESSIONS)) throw new Error(`no recorded sessions at ${relative(ROOT, SESSIONS)}`)
const files = globSync('**/*.{json,jsonl}', { cwd: SESSIONS })
  .filter((file) => half(file) === wanted)
  .toSorted()
const started = performance.now()
const run = spawnSync(
  process.execPath,
  [
    '--conditions=x-source',
    join(ROOT, 'packages/palimpsest-cli/src/main.ts'),
    'replay',
    ...files.map((file) => join(SESSIONS, file)),
    '--window',
    WINDOWS.join(','),
    '--json',
  ],
  { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX },
)
if (run.status !== 0) throw new Error(`the replay ended with ${run.status}`)
const seconds = Math.round((performance.now() - started) / 1000)
const report: ReplayReport = JSON.parse(run.stdout)
const text = figures(report, seconds)
if (wanted === 'held-out') writeFileSync(join(import.meta.dirname, 'FIGURES.md'), text)
console.log(text)

function figures({ sessions, windows }: ReplayReport, took: number): string {
  const steps = sessions.reduce((sum, session) => sum + session.steps, 0)
  const sole = sessions.reduce((sum, session) => sum + session.sole_references, 0)
  const edits = sessions.reduce((sum, session) => sum + session.edit_lines, 0)
  return [
    '# Replay: figures of the sessions that are for reporting',
    '',
    'Written by `bench/replay/run.ts`; what the columns mean and cannot say is in `docs/replay.md`.',
    '',
    `- ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / BYTES_PER_GB)} GB; ${took} s`,
    `- measure ${measureHash().slice(0, 16)}`,
    `- ${sessions.length} sessions, ${steps} steps, ${sole} sole-source references, ${edits} lines to edit`,
    ...windows.flatMap(({ window, strategies }) => [
      '',
      `## Window ${window.toLocaleString('en-US')}`,
      '',
      ...table(strategies),
      '',
      "Controls at the strategy's own token count: sole, related, line, edit.",
      '',
      ...controls(strategies),
    ]),
    '',
  ].join('\n')
}

function table(rows: readonly PooledRow[]): string[] {
  const titles =
    'strategy, cost, hit, breaks, rewritten, compactions, peak, invalid, sole, related, line, edit, worst tenth (line), user, prohibitions, paths, last op, to-dos, errors, recoverable, refetch, cascade, made'.split(
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
    percent(row.cache_hit_rate),
    whole(row.breaks),
    thousands(row.rewritten_tokens),
    whole(row.compactions),
    thousands(row.peak_tokens),
    whole(row.invalid_requests),
    withInterval(row, 'frr_sole'),
    withInterval(row, 'frr_related'),
    withInterval(row, 'frr_line'),
    withInterval(row, 'edit_line'),
    share(row.p10['frr_line']),
    share(row.user_words),
    share(row.prohibitions),
    share(row.modified_path_recall),
    share(row.last_operation),
    share(row.open_todos),
    share(row.unresolved_errors),
    share(row.recoverable),
    thousands(row.refetch_tokens),
    share(row.cascade_loss),
    `${percent(row.engine_text_share)}${row.engine_text_red ? ' (red)' : ''}`,
  ]
}

function controls(rows: readonly PooledRow[]): string[] {
  const names = ['random', 'soup', 'oracle', 'time-reversed']
  const columns = ['frr_sole', 'frr_related', 'frr_line', 'edit_line'] as const
  const managed = rows.filter(
    (row) => row.at === undefined && row.cost_usd !== null && row.strategy !== 'none',
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

function withInterval(row: PooledRow, column: 'frr_sole' | 'frr_related' | 'frr_line' | 'edit_line'): string {
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
