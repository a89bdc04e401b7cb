import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'vitest'

import { SHARE_COLUMNS } from '../../packages/palimpsest/src/lab/replay/measure/score.ts'
import {
  replayOne,
  TIME_REVERSED,
  type SessionReport,
} from '../../packages/palimpsest/src/lab/replay/replay-one.ts'
import {
  toReplaySession,
  type ReplaySession,
} from '../../packages/palimpsest/src/lab/replay/replay-session.ts'
import type { Row } from '../../packages/palimpsest/src/lab/replay/row.ts'
import { STRATEGIES as ALL_STRATEGIES } from '../../packages/palimpsest/src/lab/replay/strategies/all.ts'
import { writeViews } from '../../packages/palimpsest/src/lab/replay/write-views.ts'
import { allOf } from '../kit/all-of.ts'
import { bothSetsNote, hasBothSets, projectSessions } from '../kit/recorded-projects.ts'
import { readRecordedFile, RECORDED_DATA } from '../kit/recorded.ts'

/** The shortest sessions of the projects for tuning; the bench runs all. In CI so much of one that every strategy acts many times. */
const { SESSIONS, STEPS, WINDOW } = process.env['SOAK']
  ? { SESSIONS: 4, STEPS: Infinity, WINDOW: 100_000 }
  : { SESSIONS: 1, STEPS: 90, WINDOW: 60_000 }
/** One that clears, one that compacts, one that does both; all of them on an invented session in `run-strategy.test.ts`. */
const KINDS = ['none', 'batch+digest', 'classic', 'palimpsest']
const STRATEGIES = ALL_STRATEGIES.filter(({ name }) => process.env['SOAK'] || KINDS.includes(name))
const RECALL = ['frr_sole', 'frr_related', 'frr_line', 'edit_line'] as const

describe.skipIf(!hasBothSets)(`the replay on recorded sessions${bothSetsNote}`, () => {
  const sessions: ReplaySession[] = []
  let reports: SessionReport[] = []
  beforeAll(async () => {
    const rows = projectSessions()
      .filter(({ half }) => half === 'tuning')
      .toSorted((a, b) => a.bytes - b.bytes)
      .slice(0, SESSIONS)
    for (const { session } of rows)
      sessions.push(cutAt(toReplaySession(readRecordedFile(join(RECORDED_DATA, session)), session), STEPS))
    reports = []
    for (const session of sessions)
      reports.push(await replayOne(session, { strategies: STRATEGIES, windows: [WINDOW] }))
  })

  test('no strategy sends a request that the API would refuse', () => {
    const broken = reports.flatMap((report) =>
      report.strategies.filter((row) => (row.invalid_requests ?? 0) > 0),
    )
    expect(broken.map((row) => [row.strategy, row.broken_rules])).toEqual([])
  })

  test('without management nothing is lost, in either direction of time', () => {
    for (const report of reports)
      for (const row of [rowOf(report, 'none'), rowOf(report, TIME_REVERSED, 'none')])
        for (const column of SHARE_COLUMNS) expect([1, null]).toContain(row[column])
  })

  test('an empty request shows nothing', () => {
    for (const report of reports)
      for (const column of RECALL) expect([0, null]).toContain(rowOf(report, 'empty')[column])
  })

  test('the oracle is at least as good as every strategy, in every column', () => {
    for (const report of reports)
      for (const { name } of managed()) {
        const [own, oracle] = [rowOf(report, name), rowOf(report, 'oracle', name)]
        for (const column of SHARE_COLUMNS)
          expect(oracle[column] ?? 0, `${name} ${column}`).toBeGreaterThanOrEqual(own[column] ?? 0)
      }
  })

  test('lines quoted one by one score well only for quotations', () => {
    for (const report of reports)
      for (const { name } of managed()) {
        const [crumbs, oracle] = [rowOf(report, 'crumbs', name), rowOf(report, 'oracle', name)]
        expect(crumbs.frr_line_quoted).toBeGreaterThan(0.9)
        // What the newest 2,000 tokens hold is all that is left.
        for (const column of ['frr_line', 'edit_line', 'edit_whole'] as const)
          expect(crumbs[column] ?? 0, `${name} ${column}`).toBeLessThan(0.7 * (oracle[column] ?? 1))
      }
  })

  test('a word list is good only at words', () => {
    for (const report of reports)
      for (const { name } of managed()) {
        const soup = rowOf(report, 'soup', name)
        expect(soup.frr_sole).toBeGreaterThan(0.9)
        for (const column of ['frr_related', 'frr_line', 'edit_line'] as const)
          expect(soup[column]).toBeLessThan(0.7)
      }
  })

  test.each(STRATEGIES.map((strategy) => [strategy.name, strategy] as const))(
    '%s sees only the past: a session cut at a step gives the same views up to that step, byte for byte',
    async (_, strategy) => {
      for (const session of sessions) {
        const whole = await allOf(writeViews(session, strategy, WINDOW))
        const cut = Math.floor(session.steps.length * 0.8)
        expect(await allOf(writeViews(cutAt(session, cut), strategy, WINDOW))).toEqual(whole.slice(0, cut))
      }
    },
  )
})

function cutAt(session: ReplaySession, step: number): ReplaySession {
  const entries = session.entries.slice(0, session.steps[step]?.from)
  return { ...session, entries, steps: session.steps.slice(0, step) }
}

function managed(): readonly { readonly name: string }[] {
  return STRATEGIES.filter((strategy) => !strategy.unbounded)
}

function rowOf(report: SessionReport, strategy: string, at?: string): Row {
  const row = report.strategies.find((one) => one.strategy === strategy && one.at === at)
  if (!row) throw new Error(`no row for ${strategy}`)
  return row
}
