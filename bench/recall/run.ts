import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { half } from '../../packages/palimpsest/src/lab/replay/half.ts'
import { RECORDED_DATA } from '../../test/kit/recorded.ts'
import { askRecorded, type AskedRecorded } from './ask-recorded.ts'
import { askLocomo, type Asked } from './locomo.ts'
import { pair, type Paired } from './paired.ts'
import { readTalks } from './recorded-queries.ts'

// How much of what is asked for the index finds, beside plain FTS5 with porter stems: the same questions in the same run.
//   npm run bench:recall [-- --only locomo|session|project]

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const isWanted = (name: string): boolean => values.only === undefined || values.only === name

if (!existsSync(join(RECORDED_DATA, 'locomo'))) {
  process.stderr.write(`There is nothing to ask about in ${RECORDED_DATA}.\n`)
  process.exit(1)
}
process.stdout.write(
  '| questions | n | measure | FTS5 porter | index | gain [95 %] |\n| --- | --- | --- | --- | --- | --- |\n',
)
if (isWanted('locomo')) printLocomo(await askLocomo())
if (isWanted('session') || isWanted('project')) {
  const talks = await readTalks()
  if (isWanted('session')) printRecorded('in the session', await askRecorded(talks, 'alone'))
  if (isWanted('project')) printRecorded('in the project', await askRecorded(talks, 'project'))
}

function printLocomo(asked: readonly Asked[]): void {
  const parts = [
    ['LoCoMo, categories 1 to 4', asked.filter(({ category }) => category !== 5)],
    ['LoCoMo, category 5', asked.filter(({ category }) => category === 5)],
  ] as const
  for (const [name, list] of parts)
    for (const [measure, of] of [
      ['R@5', 'r5'],
      ['R@10', 'r10'],
      ['R@20', 'r20'],
      ['MRR', 'mrr'],
    ] as const)
      print(
        name,
        measure,
        pair(
          list.map(({ ours }) => ours[of]),
          list.map(({ base }) => base[of]),
        ),
        list.length,
      )
}

function printRecorded(where: string, asked: readonly AskedRecorded[]): void {
  for (const [part, list] of [
    ['all projects', asked],
    ['tuning projects', asked.filter(({ project }) => half(project) === 'tuning')],
    ['reporting projects', asked.filter(({ project }) => half(project) === 'held-out')],
  ] as const)
    for (const [what, of] of [
      ['names removed', 'bare'],
      ['names kept', 'whole'],
    ] as const)
      for (const k of [1, 5, 10]) {
        const share = (who: 'ours' | 'base'): number[] => list.map((one) => (one[who][of] <= k ? 1 : 0))
        print(`${where}, ${part}, ${what}`, `h@${k}`, pair(share('ours'), share('base')), list.length)
      }
}

function print(name: string, measure: string, { ours, base, gain, low, high }: Paired, count: number): void {
  const percent = (value: number): string => (100 * value).toFixed(1)
  const gained = `${gain < 0 ? '' : '+'}${percent(gain)} [${percent(low)} to ${percent(high)}]`
  process.stdout.write(
    `| ${name} | ${count} | ${measure} | ${percent(base)} | ${percent(ours)} | ${gained} |\n`,
  )
}
