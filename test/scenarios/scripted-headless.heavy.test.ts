import { join } from 'node:path'

import { expect, test } from 'vitest'

import { FLAGS } from '../../packages/palimpsest/src/flags/flags.ts'
import type { LoggedRequest, Stats } from '../../packages/palimpsest/src/simulator/index.ts'
import { sessionOfSize, type SessionSize } from '../kit/golden-ledger.ts'
import { createBench, jsonLines, onlyTranscript, put, type Bench } from '../kit/headless.ts'
import { brokenPrefixes } from '../kit/play-scripted.ts'
import { folderFor, layFolder } from '../kit/scripted-folder.ts'
import type { ScriptedSession } from '../kit/scripted-session.ts'

// The same session through the command: a process for each turn, real tools in a real folder, the simulator behind a socket. Time is
// real here, so it has no pauses.

const MODEL = 'claude-opus-5'
const HIT_RATE_MIN = 0.95
const COST_SHARE_MAX = { '90k': 1, '250k': 0.75, '900k': 0.75 } as const
/** The longer ones take minutes, and pass through the agent in `scripted.heavy.test.ts`. */
const SIZES: readonly SessionSize[] = process.env['SOAK'] ? ['90k', '250k', '900k'] : ['90k']
const TIMEOUT_MS = process.env['SOAK'] ? 3_600_000 : 300_000

test.each(SIZES)(
  'a session of %s tokens, managed, costs what it may of its cost unmanaged, through the command',
  async (size) => {
    const bench = await createBench()
    const session = sessionOfSize(size)
    const unmanaged = await runSession(bench, session, { home: 'unmanaged', managed: false })
    const managed = await runSession(bench, session, { home: 'managed', managed: true })
    const share = managed.stats.cost_usd / unmanaged.stats.cost_usd
    expect(share).toBeLessThanOrEqual(COST_SHARE_MAX[size])
    expect(managed.stats.hit_rate).toBeGreaterThanOrEqual(HIT_RATE_MIN)
    expect(managed.stats.refused).toEqual({})
    if (managed.edits === 0)
      expect(brokenPrefixes(managed.requests.map((request) => ({ request })))).toEqual([])
    const small = await runSession(bench, session, { home: 'small', managed: true, window: 60_000 })
    expect(small.stats.cost_usd).toBeLessThan(managed.stats.cost_usd)
    expect(small.edits).toBeGreaterThan(0)
  },
  TIMEOUT_MS,
)

interface SessionRun {
  readonly stats: Stats
  readonly requests: readonly LoggedRequest[]
  /** Edits in the transcript. */
  readonly edits: number
}

interface RunKind {
  readonly home: string
  readonly managed: boolean
  readonly window?: number
}

/** Every run finds the same folder and an empty cache. */
async function runSession(
  bench: Bench,
  session: ScriptedSession,
  { home, managed, window }: RunKind,
): Promise<SessionRun> {
  const { simulator, folder } = bench
  const { steps, files } = folderFor(session)
  const ownHome = join(bench.home, home)
  simulator.reset()
  simulator.addSteps(steps)
  await layFolder(folder, files)
  if (!managed) await put(join(ownHome, 'flags.json'), JSON.stringify({ features: everythingOff() }))
  const env = {
    PALIMPSEST_HOME: ownHome,
    PALIMPSEST_MODEL: MODEL,
    ...(window === undefined ? {} : { PALIMPSEST_WINDOW: String(window) }),
  }
  for (const [i, { prompt }] of session.turns.entries()) {
    const flags = ['--permission-mode', 'accept-edits', '--output-format', 'stream-json']
    const { exit, out, err } = await bench.run(['-p', prompt, ...(i === 0 ? [] : ['--continue']), ...flags], {
      env,
    })
    if (exit !== 0) throw new Error(`turn ${i} ended with ${exit}: ${err}\n${out.slice(-2_000)}`)
    expect(jsonLines(out).length).toBeGreaterThan(0)
  }
  const entries = await onlyTranscript({ home: ownHome })
  const edits = entries.filter(({ subtype }) => subtype === 'edit').length
  return { stats: simulator.stats(), requests: simulator.requests(), edits }
}

function everythingOff(): object {
  const names = Object.entries(FLAGS).flatMap(([name, { type }]) => (type === 'boolean' ? [name] : []))
  return Object.fromEntries(names.map((name) => [name, { defaultValue: false }]))
}
