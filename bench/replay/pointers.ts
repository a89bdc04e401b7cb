import { appendFileSync, createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { pairStrategies } from '../../packages/palimpsest/src/lab/replay/pair-strategies.ts'
import { readSession } from '../../packages/palimpsest/src/lab/replay/read/read-session.ts'
import { replayOne, type SessionReport } from '../../packages/palimpsest/src/lab/replay/replay-one.ts'
import { toReplaySession } from '../../packages/palimpsest/src/lab/replay/replay-session.ts'
import { palimpsestWith } from '../../packages/palimpsest/src/lab/replay/strategies/palimpsest.ts'
import { projectSessions } from '../../test/kit/recorded-projects.ts'
import { RECORDED_DATA } from '../../test/kit/recorded.ts'

// What pointers to what left the window add, and five lines in their place: the engine as it is, beside itself with each of them, on the
// projects that are for reporting.
//   npm run bench:pointers [-- --windows 60000,100000] [--sessions 3] [--keep FILE]
// With a file to keep sessions in, a run goes on where the last one ended.

const { values } = parseArgs({
  options: {
    windows: { type: 'string', default: '60000,100000,200000' },
    sessions: { type: 'string', default: '1000' },
    keep: { type: 'string' },
  },
})
const windows = values.windows.split(',').map(Number)
const strategies = [
  palimpsestWith('palimpsest'),
  palimpsestWith('with pointers', { on: ['recall-pointers'] }),
  palimpsestWith('with excerpts', { on: ['recall-excerpts'] }),
].map((strategy) => ({ ...strategy, isVariant: true }))

const reports: SessionReport[] =
  values.keep !== undefined && existsSync(values.keep)
    ? readFileSync(values.keep, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []
const rows = projectSessions().filter(({ half }) => half === 'held-out')
for (const { session, project } of rows.slice(0, Number(values.sessions))) {
  if (reports.some((report) => report.session === session)) continue
  const recorded = await readSession(createReadStream(join(RECORDED_DATA, session), { encoding: 'utf8' }))
  const replayed = { ...toReplaySession(recorded, session), project }
  const report = await replayOne(replayed, { strategies, windows })
  reports.push(report)
  if (values.keep !== undefined) appendFileSync(values.keep, `${JSON.stringify(report)}\n`)
  process.stderr.write(`${reports.length} of ${rows.length}: ${session}\n`)
}

console.log(
  '| window | with | cost, points of the unmanaged | line | edit_line | edit_whole | text of ours |\n| --- | --- | --- | --- | --- | --- | --- |',
)
for (const window of windows)
  for (const { name } of strategies.slice(1)) {
    const paired = pairStrategies(reports, window, name).find(({ against }) => against === 'palimpsest')
    if (!paired) continue
    const { cost_ratio: cost, frr_line: line, edit_line: edit, edit_whole: whole } = paired
    const cells = [shown(cost, 100), shown(line, 1), shown(edit, 1), shown(whole, 1), share(name, window)]
    console.log(`| ${window} | ${name.replace('with ', '')} | ${cells.join(' | ')} |`)
  }

function shown(
  difference: { readonly mean: number; readonly low: number; readonly high: number } | null,
  factor: number,
): string {
  if (!difference) return '–'
  const digits = factor === 1 ? 4 : 2
  const [mean, low, high] = [difference.mean, difference.low, difference.high].map((value) => {
    const text = (value * factor).toFixed(digits)
    return value < 0 ? text.replace('-', '−') : `+${text}`
  })
  return `${mean ?? ''} [${low ?? ''} to ${high ?? ''}]`
}

/** Share of the messages that the engine wrote, in the mean of the sessions: with it, and without. */
function share(name: string, window: number): string {
  const of = (strategy: string): number => {
    const shares = reports.flatMap(({ strategies: list }) =>
      list.flatMap((row) =>
        row.strategy === strategy && row.window === window ? [row.engine_text_share ?? 0] : [],
      ),
    )
    return shares.reduce((sum, value) => sum + value, 0) / Math.max(1, shares.length)
  }
  return `${(100 * of('palimpsest')).toFixed(2)} → ${(100 * of(name)).toFixed(2)} %`
}
