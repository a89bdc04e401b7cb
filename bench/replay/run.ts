import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join, relative } from 'node:path'

import { half } from '../../packages/palimpsest/src/replay/half.ts'
import type { ReplayReport } from '../../packages/palimpsest/src/replay/report.ts'
import { figures } from './figures.ts'
import { putSummary, summarise } from './summary.ts'

// The figures of the half that is for reporting, with date and machine: all of them in bench/replay/FIGURES.md, a summary in README.md.
// What is tuned sees the other half.
//   npm run bench:replay
//   npm run bench:replay -- tuning      prints those of the other half, and writes nothing

const ROOT = join(import.meta.dirname, '../..')
const SESSIONS = join(ROOT, '../shared/data/sessions')
const FIGURES = join(import.meta.dirname, 'FIGURES.md')
const README = join(ROOT, 'README.md')
const WINDOWS = [60_000, 100_000, 200_000]
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024
const BYTES_PER_GB = 1024 ** 3

const wanted = process.argv.includes('tuning') ? 'tuning' : 'held-out'
if (!existsSync(SESSIONS)) throw new Error(`no recorded sessions at ${relative(ROOT, SESSIONS)}`)
const files = globSync('**/*.{json,jsonl}', { cwd: SESSIONS })
  .filter((file) => half(file) === wanted)
  .toSorted()
const started = performance.now()
const report = replay(files)
const seconds = Math.round((performance.now() - started) / 1000)
const machine = `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / BYTES_PER_GB)} GB; ${seconds} s`
const summary = summarise(report, machine)
const text = figures(report, { machine, summary })
if (wanted === 'held-out') {
  writeFileSync(FIGURES, text)
  writeFileSync(README, putSummary(readFileSync(README, 'utf8'), summary))
}
console.log(text)

function replay(names: readonly string[]): ReplayReport {
  const run = spawnSync(
    process.execPath,
    [
      '--conditions=x-source',
      join(ROOT, 'packages/palimpsest-cli/src/main.ts'),
      'replay',
      ...names.map((name) => join(SESSIONS, name)),
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
