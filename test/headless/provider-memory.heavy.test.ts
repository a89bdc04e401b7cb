import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { providerFaults } from '../kit/hostile/faults.ts'
import type { ProviderFault } from '../kit/hostile/plays.ts'
import { complaintsAbout, createHostileBench, GOOD, type HostileBench } from '../kit/hostile/hostile-bench.ts'
import { createBench, put, type Ran } from '../kit/headless.ts'

// What is too large, or never ends, against the command as a process of its own: what it takes of memory is looked at while it runs. The fault comes
// with every attempt. Whoever is to be waited for is waited for seconds instead of minutes, by the settings that there are for it.

const MEMORY_MB_MAX = 600
/** The longest is a server that always fails: it is asked eight times, with a minute of waiting between. */
const TIME_MS_MAX = 100_000
const TIMES = process.env['SOAK']
  ? { answers: { silentSeconds: 3, stuckSeconds: 4, wholeSeconds: 8 } }
  : { answers: { silentSeconds: 2, stuckSeconds: 2, wholeSeconds: 3 } }
const ATTEMPTS = 8
/** A few in CI: a bomb that is one line, and one that never ends. */
const CI = ['a body of 300 MB in gzip', 'for ever: words at full speed']

interface Measured {
  readonly name: string
  readonly exit: number | null
  readonly ms: number
  readonly megabytes: number
  readonly told: string
}

test(
  'answers that are too large or never end: one sentence, in bounded time and memory, and the session continues',
  async () => {
    const big = providerFaults().filter(({ isBig }) => isBig)
    const chosen = process.env['SOAK'] ? big : big.filter(({ name }) => CI.includes(name))
    expect(chosen.length).toBeGreaterThanOrEqual(CI.length)
    const measured: Measured[] = []
    for (const fault of chosen) measured.push(await liveThrough(fault))
    if (process.env['SOAK']) process.stderr.write(tableOf(measured))
    expect(measured.filter(({ megabytes }) => megabytes > MEMORY_MB_MAX)).toEqual([])
    expect(measured.filter(({ ms }) => ms > TIME_MS_MAX)).toEqual([])
  },
  process.env['SOAK'] ? undefined : CI.length * TIME_MS_MAX,
)

async function liveThrough({ name, play }: ProviderFault): Promise<Measured> {
  const bench = await createHostileBench()
  await put(join(bench.home, 'settings.json'), JSON.stringify(TIMES))
  bench.server.faults.push(...Array.from({ length: ATTEMPTS }, () => play))
  const { ran, ms, megabytes } = await runMeasured(['-p', 'first'], bench)
  bench.server.faults.length = 0
  // What is good may take its time.
  await put(join(bench.home, 'settings.json'), '{}')
  expect({ name, complaints: complaintsAbout(ran) }).toEqual({ name, complaints: [] })
  const next = await bench.run(['-p', 'second', '--continue'])
  expect({ name, exit: next.exit, out: next.out, err: next.err }).toMatchObject({
    name,
    exit: 0,
    out: `${GOOD}\n`,
  })
  const told =
    ran.err.split('\n').find((line) => line.startsWith('palimpsest: ')) ?? ran.out.slice(0, 60).trim()
  return { name, exit: ran.exit, ms: Math.round(ms), megabytes, told }
}

async function runMeasured(
  args: readonly string[],
  bench: HostileBench,
): Promise<{
  readonly ran: Ran & { readonly exit: number }
  readonly ms: number
  readonly megabytes: number
}> {
  const { start } = await createBench()
  const startedAt = performance.now()
  const env = {
    PALIMPSEST_HOME: bench.home,
    HOME: bench.userHome,
    PALIMPSEST_BASE_URL: bench.server.url,
    PALIMPSEST_MEMORY_EXTRACT: '0',
  }
  const { child, ended } = start(args, { env, cwd: bench.folder })
  let megabytes = 0
  const timer = setInterval(() => {
    void peakOf(child.pid).then((now) => (megabytes = Math.max(megabytes, now)))
  }, 40)
  const ran = await ended
  clearInterval(timer)
  return { ran: { ...ran, exit: ran.exit ?? -1 }, ms: performance.now() - startedAt, megabytes }
}

/** The most that a process ever had, in megabytes; 0 once it is gone, and where that cannot be told. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024)
}

function tableOf(measured: readonly Measured[]): string {
  const rows = measured.map(
    ({ name, exit, ms, megabytes, told }) => `| ${name} | ${exit} | ${ms} | ${megabytes} | ${told} |\n`,
  )
  return `\n| fault | exit | ms | MB | told |\n| --- | --- | --- | --- | --- |\n${rows.join('')}`
}
