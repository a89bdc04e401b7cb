import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Share } from '../packages/palimpsest/src/lab/replay/measure/share.ts'
import {
  judgeSummaries,
  LATER_STEPS,
  REPAIR_CHARS_MAX,
  SUMMARY_COLUMNS,
  SUMMARY_MAKERS,
  type JudgedBoundary,
  type JudgedSummary,
  type SummaryColumn,
  type SummaryMaker,
} from '../test/kit/measure-summary.ts'
import { readRecorded, recordedRows } from '../test/kit/recorded.ts'

// Writes docs/recorded-summaries.md: summaries that recorded agents went on with, and ours of the same history, side by side.
//   node --conditions=x-source bench/recorded-summaries.ts

const REPORT_PATH = join(import.meta.dirname, '..', 'docs', 'recorded-summaries.md')

/** Where the two must be at least as good after repair. */
const PROVEN: readonly SummaryColumn[] = ['user words', 'paths', 'errors', 'to-dos']
/** Before repair, as a share of the recorded one's figure. */
const WITHIN = 0.7

async function judgeRecorded(): Promise<JudgedBoundary[]> {
  const boundaries: JudgedBoundary[] = []
  for (const row of recordedRows()) {
    const name = row.path.replace(/^[^/]+\//, '').replace(/\.jsonl?$/, '')
    boundaries.push(...judgeSummaries(await readRecorded(row), name))
  }
  return boundaries
}

function writeReport(boundaries: readonly JudgedBoundary[]): string {
  const means = SUMMARY_MAKERS.map((maker) => meanRow(boundaries, maker))
  return `# Summaries of recorded compactions, compared

Written by \`bench/recorded-summaries.ts\`. The sessions are other people's and are not part of this project. For each of their ${boundaries.length} compactions that
left a summary, this page compares two of ours with the one that the recorded agent continued with, of the same history: by extraction (the offline model) and
computed from facts (the fold). **Ours have at most the recorded one's characters**, before repair. Repairs may add ${REPAIR_CHARS_MAX} characters.

Each text is judged alone, without the messages that stay next to it, by the measure of the [replay](replay.md): *user words*, share of the words
of the user's lines that it contains whole; *prohibitions*, sentences of the user that forbid or restrict; *paths*, changed files that it says were changed;
*last operation*, those with the right one; *errors*, failed calls that the very same call never fixed, by the line that says what went wrong; *to-dos*, open ones; *later*, of what
the next ${LATER_STEPS} steps used and nobody had said again since the compaction, how much is in it at all (seen), and next to its line (related). Means over
compactions that have the figure. In the five of \`agentv\` no summary can be read (it is encrypted or left out); in
its place is a copy of the user's messages. A recorded agent that compacts a second time sees only its own first summary of what came before; ours are made
from the whole history.

| summary | characters | ${SUMMARY_COLUMNS.join(' | ')} |
| --- | --- | ${SUMMARY_COLUMNS.map(() => '---').join(' | ')} |
${means.join('\n')}

What ours should reach, and whether they do:

${verdicts(boundaries).join('\n')}

## Each compaction

| session | no. | summary | characters | ${SUMMARY_COLUMNS.join(' | ')} |
| --- | --- | --- | --- | ${SUMMARY_COLUMNS.map(() => '---').join(' | ')} |
${boundaries.flatMap(boundaryRows).join('\n')}
`
}

function meanRow(boundaries: readonly JudgedBoundary[], maker: SummaryMaker): string {
  const own = boundaries.flatMap(({ summaries }) => summaries.filter((one) => one.maker === maker))
  const chars = Math.round(own.reduce((sum, one) => sum + one.chars, 0) / own.length)
  const cells = SUMMARY_COLUMNS.map((column) => figure(meanOf(boundaries, maker, column)))
  return `| ${maker} | ${chars} | ${cells.join(' | ')} |`
}

function meanOf(
  boundaries: readonly JudgedBoundary[],
  maker: SummaryMaker,
  column: SummaryColumn,
): number | undefined {
  const shares = boundaries
    .flatMap(({ summaries }) => summaries.filter((one) => one.maker === maker))
    .flatMap((one) => shareOf(one.shares[column]) ?? [])
  return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length
}

function verdicts(boundaries: readonly JudgedBoundary[]): readonly string[] {
  return (['offline', 'fold'] as const).flatMap((maker) => {
    const below = SUMMARY_COLUMNS.filter((column) => {
      const recorded = meanOf(boundaries, 'recorded', column) ?? 0
      return (meanOf(boundaries, maker, column) ?? 0) < WITHIN * recorded
    })
    const after = PROVEN.map((column) => {
      const worse = boundaries.filter(({ summaries }) => {
        const of = (name: SummaryMaker): number =>
          shareOf(summaries.find((one) => one.maker === name)?.shares[column] ?? { hits: 0, of: 0 }) ?? 1
        return of(`${maker}, repaired`) < of('recorded')
      })
      return `${column} ${boundaries.length - worse.length} of ${boundaries.length}`
    })
    return [
      `- *${maker}*, before repair, in the mean within 30% of the recorded summary: ${below.length === 0 ? 'on every measure' : `not on ${below.join(', ')}`}.`,
      `- *${maker}*, after repair, compactions on which it is at least the recorded one: ${after.join(', ')}.`,
    ]
  })
}

function boundaryRows({ session, number, summaries }: JudgedBoundary): readonly string[] {
  return summaries.map((one) => `| ${session} | ${number} | ${summaryCells(one)} |`)
}

function summaryCells({ maker, chars, shares }: JudgedSummary): string {
  return [maker, chars, ...SUMMARY_COLUMNS.map((column) => figure(shareOf(shares[column])))].join(' | ')
}

function shareOf({ hits, of }: Share): number | undefined {
  return of === 0 ? undefined : hits / of
}

function figure(share: number | undefined): string {
  return share === undefined ? '–' : share.toFixed(3)
}

const report = writeReport(await judgeRecorded())
const changed = report !== readOrEmpty(REPORT_PATH)
writeFileSync(REPORT_PATH, report)
console.log(changed ? `written: ${REPORT_PATH}` : 'nothing changed')

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
