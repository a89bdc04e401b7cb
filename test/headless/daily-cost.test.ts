import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openDayLedger } from '../../packages/palimpsest-cli/src/run/limits/day-ledger.ts'
import { createHostileBench, GOOD, type HostileBench } from '../kit/hostile/hostile-bench.ts'
import { tempFolder } from '../kit/temp-home.ts'

// A limit for all sessions of a day, held before anything is sent, whichever process asks.

const DAY_MS = 24 * 3_600_000

interface Result {
  readonly subtype: string
  readonly result: string
}

test('sessions of one day share a limit: what one spends is missing for the next, until the next day or until the limit is switched off', async () => {
  const bench = await createHostileBench()
  // Nothing bounds the first one: what it costs is written down all the same.
  expect((await ask(bench, 'hello')).result).toMatchObject({ result: GOOD })
  const spent = bench.simulator.stats().cost_usd
  await set(bench, { limits: { dailyCostUsd: spent + 0.001 } })
  const { exit, result } = await ask(bench, 'another session')
  expect({ exit, result }).toEqual({
    exit: 1,
    result: expect.objectContaining({
      subtype: 'error_max_budget_usd',
      result: expect.stringMatching(
        /^the next request costs about \$0\.0\d+, and limits\.dailyCostUsd \(\$0\.\d+ a day, all sessions together\) leaves \$0\.00\d+\. Raise it \(\/cost day USD, or settings\.json\) and resume the session, or continue tomorrow$/,
      ),
    }),
  })
  expect(bench.simulator.requests()).toHaveLength(1)
  await mkdir(bench.home, { recursive: true })
  await writeFile(join(bench.home, 'flags.json'), '{"features":{"daily-cap":{"defaultValue":false}}}')
  expect((await ask(bench, 'switched off')).exit).toBe(0)
  await writeFile(join(bench.home, 'flags.json'), '{"features":{}}')
  expect((await ask(bench, 'on again')).exit).toBe(1)
  await set(bench, { limits: { dailyCostUsd: 0.2 } })
  bench.wait(DAY_MS)
  expect((await ask(bench, 'tomorrow')).exit).toBe(0)
})

test("a folder's settings cannot set it", async () => {
  const bench = await createHostileBench()
  await mkdir(join(bench.folder, '.palimpsest'), { recursive: true })
  await writeFile(join(bench.folder, '.palimpsest/settings.json'), '{"limits":{"dailyCostUsd":1000}}')
  const { err } = await bench.run(['-p', 'hello', '--trust'])
  expect(err).toContain('"limits.dailyCostUsd" cannot be set in a project')
})

test('of many that want the rest at the same time, as many get it as it can pay for', async () => {
  const home = await tempFolder()
  let ids = 0
  const open = () =>
    openDayLedger(home, { session: 's', project: 'p', now: Date.now, newId: () => `i${ids++}` })
  const wanted = { neededUsd: 0.1, mostUsd: 0.3, maxUsd: 1, source: 'main' }
  // Each has read nothing of what the others wrote.
  const held = await Promise.all(Array.from({ length: 8 }, () => open().hold(wanted)))
  expect(held.filter((one) => one !== undefined)).toHaveLength(3)
  const { spentUsd, heldUsd } = open().figures()
  expect([spentUsd, heldUsd.toFixed(6)]).toEqual([0, '0.900000'])
  for (const one of held) await one?.settle(0.2)
  expect(open().figures()).toEqual({ spentUsd: 0.2 + 0.2 + 0.2, heldUsd: 0 })
})

test('a request under way when its process was killed counts as its prompt; a torn line counts as nothing; old days are removed', async () => {
  const home = await tempFolder()
  const at = Date.parse('2026-11-18T12:00:00')
  const ledger = openDayLedger(home, {
    session: 's',
    project: 'p',
    now: () => at,
    newId: () => crypto.randomUUID(),
  })
  const by = { pid: 2_147_483_000, host: 'elsewhere' }
  const line = { id: 'dead', session: 'x', held: 0.9, prompt: 0.1, by }
  const folder = join(home, 'spending')
  await mkdir(folder)
  await writeFile(join(folder, '2026-09-01.jsonl'), '')
  const file = join(folder, '2026-11-18.jsonl')
  // On another machine nobody can look: it may be alive.
  await writeFile(file, `${JSON.stringify(line)}\n{"id":"torn","us\n`)
  expect(await ledger.hold({ neededUsd: 0.1, mostUsd: 0.3, maxUsd: 1, source: 'main' })).toBeUndefined()
  const { hostname } = await import('node:os')
  await writeFile(file, `${JSON.stringify({ ...line, id: 'gone', by: { ...by, host: hostname() } })}\n`)
  const fresh = openDayLedger(home, {
    session: 's',
    project: 'p',
    now: () => at,
    newId: () => crypto.randomUUID(),
  })
  const held = await fresh.hold({ neededUsd: 0.1, mostUsd: 0.3, maxUsd: 1, source: 'main' })
  await held?.settle(0.25)
  expect(fresh.figures()).toEqual({ spentUsd: 0.35, heldUsd: 0 })
  expect(await readdir(folder)).toEqual(['2026-11-18.jsonl'])
  expect(await readFile(file, 'utf8')).not.toContain('hello')
})

async function set({ home }: HostileBench, settings: object): Promise<void> {
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'settings.json'), JSON.stringify(settings))
}

async function ask(bench: HostileBench, prompt: string): Promise<{ exit: number; result: Result }> {
  const { exit, out } = await bench.run(['-p', prompt, '--output-format', 'json'])
  return { exit, result: JSON.parse(out) as Result }
}
