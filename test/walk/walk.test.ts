import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { FLAGS, type Flag } from '../../packages/palimpsest/src/flags/flags.ts'
import { createCommandBench } from '../kit/command-bench.ts'
import { setFlags } from '../kit/compacting.ts'
import { ROOT } from '../kit/source-tree.ts'
import { ROWS, UNPLAYED, type WalkRow } from './rows.ts'

// The walk of the flags: each mechanism in a session in which it acts, through the command, with what it cost or saved. The table in
// `docs/flags.md` says what came of it; `WALK=write SOAK=1 npx vitest run test/walk` writes it anew. CI plays a few of the rows.

const PAGE = join(ROOT, 'docs/flags.md')
const TABLE = /(?<=<!-- walk -->\n\n)[^]*?(?=\n\n<!-- \/walk -->)/
const HEAD = [
  '| flag | session | what it did | with it | without it | it costs |',
  '| --- | --- | --- | --- | --- | --- |',
]
/** Paths of temporary folders are in the requests: figures differ a little from run to run. */
const USD_SHARE = 0.03
const PERCENT = 2
const SESSION_MS = 300_000

const written = (TABLE.exec(readFileSync(PAGE, 'utf8'))?.[0] ?? '').split('\n')
const isSoak = Boolean(process.env['SOAK'])
const isWriting = process.env['WALK'] === 'write'
const played = new Map<string, string>()

describe('the table', () => {
  test('has a row for each flag, in their order, and names where each was played', () => {
    expect(written.slice(0, 2)).toEqual(HEAD)
    expect(written.slice(2).map((line) => cells(line).slice(0, 2))).toEqual(
      Object.entries<Flag>(FLAGS).map(([name, flag]) => [`\`${name}\``, toldOf(name, flag)]),
    )
  })

  test('leaves out no mechanism that is built, except those with a reason', () => {
    const built = Object.entries<Flag>(FLAGS).flatMap(([name, { since }]) =>
      since === 'later' ? [] : [name],
    )
    const walked = new Set<string>([...ROWS.map(({ flag }) => flag), ...Object.keys(UNPLAYED)])
    expect(built.filter((name) => !walked.has(name))).toEqual([])
  })
})

test.each(ROWS.filter(({ isCheap }) => isSoak || isCheap))(
  '$flag acts as often and costs as much as the table says',
  async (row) => {
    const { builtIn } = FLAGS[row.flag]
    // With what is built in where that is on, or a number; what is off is switched on.
    const [on, off] = builtIn === false ? [row.other, builtIn] : [builtIn, row.other]
    const [withIt, without] = [await play(row, on), await play(row, off)]
    expect(withIt.count).toBeGreaterThan(without.count)
    const line = lineOf(row, withIt, without.usd)
    played.set(row.flag, line)
    if (isWriting) return
    const [now, before] = [
      figures(line),
      figures(written.find((one) => one.startsWith(`| \`${row.flag}\` `)) ?? ''),
    ]
    expect(now.did).toBe(before.did)
    expect(Math.abs(now.withIt / before.withIt - 1)).toBeLessThanOrEqual(USD_SHARE)
    expect(Math.abs(now.without / before.without - 1)).toBeLessThanOrEqual(USD_SHARE)
    expect(Math.abs(now.percent - before.percent)).toBeLessThanOrEqual(PERCENT)
  },
  SESSION_MS,
)

afterAll(async () => {
  if (!isWriting) return
  const rows = Object.entries<Flag>(FLAGS).map(
    ([name, flag]) =>
      played.get(name) ??
      written.find((line) => line.startsWith(`| \`${name}\` | ${toldOf(name, flag)} |`)) ??
      `| \`${name}\` | ${toldOf(name, flag)} | | | | |`,
  )
  const page = readFileSync(PAGE, 'utf8')
  await writeFile(
    PAGE,
    page.replace(TABLE, () => [...HEAD, ...rows].join('\n')),
  )
})

interface Outcome {
  readonly count: number
  readonly usd: number
}

async function play({ flag, session, seen, given }: WalkRow, value: boolean | number): Promise<Outcome> {
  let listed = 0
  const bench = await createCommandBench({
    instead: ({ url }) => {
      if (new URL(url).pathname.startsWith('/v1/models')) listed++
      return undefined
    },
  })
  await setFlags(bench, { ...given, [flag]: value })
  const told = await session(bench)
  return {
    count: await seen.count({ bench, told, listed }),
    usd: bench.simulator.stats().cost_usd,
  }
}

function toldOf(name: string, { since }: Flag): string {
  if (since === 'later') return 'later: nothing reads it yet'
  const unplayed: { readonly [name: string]: string | undefined } = UNPLAYED
  return unplayed[name] ?? ROWS.find(({ flag }) => flag === name)?.told ?? ''
}

function lineOf({ flag, told, seen, note }: WalkRow, { count, usd }: Outcome, without: number): string {
  const did = `${seen.what}: ${count}${note === undefined ? '' : `; ${note}`}`
  const percent = Math.round((usd / without - 1) * 100)
  const change = percent === 0 ? '0%' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`
  return `| \`${flag}\` | ${told} | ${did} | $${usd.toFixed(3)} | $${without.toFixed(3)} | ${change} |`
}

function cells(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

function figures(line: string) {
  const [, , did = '', withIt = '', without = '', percent = ''] = cells(line)
  const usd = (cell: string): number => Number(cell.replace('$', ''))
  return {
    did,
    withIt: usd(withIt),
    without: usd(without),
    percent: Number.parseInt(percent.replace('−', '-'), 10),
  }
}
