import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { dayOf, openDayLedger } from '../../packages/palimpsest-cli/src/run/limits/day-ledger.ts'
import { mayCallBeside } from '../../packages/palimpsest/src/background/background-bill.ts'
import { findModelFacts, unknownModelFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { longAnswers, setFlags } from '../kit/compacting.ts'
import { text } from '../kit/headless.ts'
import { tempFolder } from '../kit/temp-home.ts'

// All calls that nobody waits for share a tenth of what the project cost in 30 days; 5 cents a session are free.

const DAY_MS = 24 * 3_600_000
const SOURCE = 'extract-memories'

test('the bill of a project is that of its other sessions in the last 30 days', async () => {
  const home = await tempFolder()
  const at = Date.parse('2026-11-18T12:00:00')
  const spend = async (session: string, project: string, daysAgo: number, amounts: object) => {
    const now = () => at - daysAgo * DAY_MS
    const ledger = openDayLedger(home, { session, project, now, newId: () => crypto.randomUUID() })
    for (const [source, usd] of Object.entries(amounts)) await ledger.add(Number(usd), source)
  }
  await spend('own', 'p', 1, { main: 32, 'session-memory': 16 })
  await spend('other', 'q', 1, { main: 32 })
  await spend('other', 'p', 31, { main: 32 })
  await spend('other', 'p', 29, { main: 8, compact: 4, dream: 2, 'subagent:fork': 1 })
  await spend('another', 'p', 0, { main: 0.5, 'session-memory': 0.25, [SOURCE]: 0.125 })
  const own = { session: 'own', project: 'p', now: () => at, newId: () => crypto.randomUUID() }
  const { elsewhere } = openDayLedger(home, own)
  await expect.poll(elsewhere).toEqual({ totalUsd: 15.875, besideUsd: 0.375 })
  await spend('another', 'p', 0, { [SOURCE]: 1 })
  expect(elsewhere()).toEqual({ totalUsd: 16.875, besideUsd: 1.375 })
})

test("beyond 5 cents a session may call as long as the project's share of a tenth is not used up, whatever its own bill says", () => {
  const facts = findModelFacts('claude-sonnet-5-5') ?? unknownModelFacts('claude-sonnet-5-5')
  const own = { totalUsd: 0.2, besideUsd: 0.049 }
  const may = (totalUsd: number, besideUsd: number): boolean =>
    mayCallBeside({ ...own, elsewhere: { totalUsd, besideUsd } }, facts, 100_000)
  expect([may(0, 0), may(10, 0), may(10, 1)]).toEqual([false, true, false])
})

test('a session whose project has used up its share saves memories for 5 cents and no more; one whose project has a share continues', async () => {
  const used = await extractions({ main: 1, [SOURCE]: 1 })
  const left = await extractions({ main: 100 })
  expect(used).toMatchObject({ isWithin: true })
  expect(left.count).toBe(TURNS)
  expect(used.count).toBeLessThan(TURNS)
  expect(used.count).toBeGreaterThan(0)
})

const TURNS = 4

async function extractions(amounts: { readonly [source: string]: number }) {
  const bench = await createCommandBench()
  await setFlags(bench, { 'session-memory': false, 'prepared-compaction': false })
  const day = dayOf(bench.worldFor({ out: '', err: '' }).now())
  await mkdir(join(bench.home, 'spending'), { recursive: true })
  const project = bench.folder.replaceAll(/[^A-Za-z0-9]/g, '-')
  const lines = Object.entries(amounts).map(([source, usd], id) =>
    JSON.stringify({ id: `${id}`, session: 'another', project, source, usd }),
  )
  await writeFile(join(bench.home, 'spending', `${day}.jsonl`), `${lines.join('\n')}\n`)
  for (let turn = 0; turn < TURNS; turn++) await turnOf(bench, turn)
  const asked = bench.asked(SOURCE)
  const usd = asked.reduce((sum, { cost_usd }) => sum + cost_usd, 0)
  return { count: asked.length, isWithin: usd <= 0.05 }
}

async function turnOf(bench: CommandBench, turn: number): Promise<void> {
  const main = [...longAnswers('filling', 2), { content: [text('Done.')] }]
  bench.simulator.addSteps([
    ...main.map((step) => ({ ...step, when: { source: 'main' } })),
    { when: { source: SOURCE }, content: [text('Nothing to save.')] },
  ])
  const args = ['-p', `Turn ${turn}.`, ...(turn > 0 ? ['--continue'] : [])]
  expect(await bench.run(args, { PALIMPSEST_MEMORY_EXTRACT: '1' })).toMatchObject({ exit: 0 })
}
