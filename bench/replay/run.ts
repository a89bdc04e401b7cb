import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { basename, join } from 'node:path'

import { toReport, type ReplayReport } from '../../packages/palimpsest/src/lab/replay/report.ts'
import { hasBothSets, projectSessions } from '../../test/kit/recorded-projects.ts'
import { RECORDED_DATA } from '../../test/kit/recorded.ts'
import { figures } from './figures.ts'
import { putSummary, summarise } from './summary.ts'

// The figures of the projects that are for reporting, of both sets of recorded sessions, with date and machine: all of them in
// bench/replay/FIGURES.md, a summary in README.md. What is tuned sees the other projects.
//   npm run bench:replay
//   npm run bench:replay -- tuning           prints those of the other projects, and writes nothing; about four times as long
//   npm run bench:replay -- [tuning] --json FILE   writes the report too

const ROOT = join(import.meta.dirname, '../..')
const FIGURES = join(import.meta.dirname, 'FIGURES.md')
const README = join(ROOT, 'README.md')
const WINDOWS = [60_000, 100_000, 200_000]
const OUTPUT_BYTES_MAX = 1024 * 1024 * 1024
const BYTES_PER_GB = 1024 ** 3

const wanted = process.argv.includes('tuning') ? 'tuning' : 'held-out'
const json = process.argv[process.argv.indexOf('--json') + 1]
if (!hasBothSets) throw new Error('no recorded sessions of both sets at ../shared/data')
const rows = projectSessions().filter(({ half }) => half === wanted)
const started = performance.now()
const report = withProjects(replay(rows.map(({ session }) => join(RECORDED_DATA, session))))
const seconds = Math.round((performance.now() - started) / 1000)
if (process.argv.includes('--json') && json !== undefined) writeFileSync(json, JSON.stringify(report))
const machine = `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / BYTES_PER_GB)} GB; ${seconds} s`
const summary = summarise(report, machine)
const text = figures(report, { machine, summary, half: wanted })
if (wanted === 'held-out') {
  writeFileSync(FIGURES, text)
  writeFileSync(README, putSummary(readFileSync(README, 'utf8'), summary))
}
console.log(text)

/** Projects as the index has them: the command knows folders. */
function withProjects({ sessions, windows, skipped }: ReplayReport): ReplayReport {
  const projects = new Map(rows.map(({ session, project }) => [basename(session), project]))
  const named = sessions.map((session) => ({
    ...session,
    project: projects.get(basename(session.session)) ?? session.project,
  }))
  return toReport(
    named,
    windows.map(({ window }) => window),
    skipped,
  )
}

function replay(files: readonly string[]): ReplayReport {
  const run = spawnSync(
    process.execPath,
    [
      '--conditions=x-source',
      join(ROOT, 'packages/palimpsest-cli/src/main.ts'),
      'replay',
      ...files,
      '--window',
      WINDOWS.join(','),
      '--ablation',
      '--json',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX },
  )
  if (run.status !== 0) throw new Error(`the replay ended with ${run.status}`)
  return JSON.parse(run.stdout)
}
