import {
  replayOne,
  readSession,
  STRATEGIES,
  toReplaySession,
  type Row,
  type SessionReport,
} from 'palimpsest/replay'
import { beforeAll, expect, test } from 'vitest'

import { claudeCodeSession } from '../../../../../test/kit/claude-code-session.ts'
import type { World } from '../../world.ts'
import type { SessionTask } from '../session-task.ts'
import { createInterim } from './show-interim.ts'

const NAMES = ['none', 'codex', 'palimpsest']
const tasks: readonly SessionTask[] = [100, 900, 50].map((bytes, index) => ({
  index,
  file: { path: `/${index}`, name: `${index}`, bytes },
  strategies: NAMES,
  windows: [20_000],
}))

let report: SessionReport
let rows: readonly Row[]
beforeAll(async () => {
  const session = toReplaySession(await readSession([claudeCodeSession(12)]), 'x')
  const strategies = STRATEGIES.filter(({ name }) => NAMES.includes(name))
  report = await replayOne(session, { strategies, windows: [20_000] })
  rows = NAMES.flatMap((name) =>
    report.strategies.filter((row) => row.strategy === name && row.at === undefined),
  )
})

test('a short session that is done says too little: the current one is shown when its strategies can be compared', () => {
  const { at, shown } = interim()
  at(1_000).hear({ kind: 'done', index: 0, report, traces: [] })
  at(5_000).hear({ kind: 'skipped', index: 2, why: 'empty' })
  for (const row of rows.slice(0, 2)) at(5_000).hear({ kind: 'row', index: 1, row })
  expect(shown).toEqual([])
  for (const row of rows.slice(2)) at(5_500).hear({ kind: 'row', index: 1, row })
  expect(shown).toHaveLength(1)
  const lines = (shown[0] ?? '').split('\n')
  expect(lines[0]).toBe('So far, one session under way, of 3 files at 20,000 tokens:')
  expect(lines[2]).toBe('none            100%  1.000      -')
  expect(lines.slice(3, 5).map((line) => line.split(' ')[0])).toEqual(['codex', 'palimpsest'])
})

test('after a long wait, what is known is shown', () => {
  const { at, shown } = interim()
  at(1_000).hear({ kind: 'done', index: 0, report, traces: [] })
  at(8_500).hear({ kind: 'skipped', index: 2, why: 'empty' })
  expect(shown[0]).toContain('So far, 2 of 3 files at 20,000 tokens:')
})

test('nothing is shown before that, or when all is done', () => {
  const { at, shown } = interim()
  for (const row of rows) at(3_000).hear({ kind: 'row', index: 1, row })
  for (const index of [0, 1, 2]) at(3_500).hear({ kind: 'done', index, report, traces: [] })
  expect(shown).toEqual([])
})

interface Heard {
  readonly at: (ms: number) => { readonly hear: ReturnType<typeof createInterim> }
  readonly shown: readonly string[]
}

function interim(): Heard {
  const shown: string[] = []
  let now = 0
  const world: World = {
    version: '0',
    env: {},
    cwd: '/',
    userHome: '/',
    now: () => now,
    nodeVersion: 'v24.0.0',
    platform: 'linux',
    readInput: async () => ({ kind: 'none' }),
    print: () => {},
    printError: (text) => void shown.push(text),
    signal: new AbortController().signal,
  }
  const hear = createInterim(tasks, world)
  return {
    at(ms) {
      now = ms
      return { hear }
    },
    shown,
  }
}
