import { beforeAll, describe, expect, test } from 'vitest'

import { half } from '../../packages/palimpsest/src/replay/half.ts'
import { SHARE_COLUMNS } from '../../packages/palimpsest/src/replay/measure/score.ts'
import {
  replayOne,
  TIME_REVERSED,
  type SessionReport,
} from '../../packages/palimpsest/src/replay/replay-one.ts'
import { toReplaySession, type ReplaySession } from '../../packages/palimpsest/src/replay/replay-session.ts'
import type { Row } from '../../packages/palimpsest/src/replay/row.ts'
import { STRATEGIES } from '../../packages/palimpsest/src/replay/strategies/all.ts'
import { writeViews } from '../../packages/palimpsest/src/replay/write-views.ts'
import { hasRecorded, readRecorded, recordedNote, recordedRows } from '../kit/recorded.ts'

const WINDOW = 100_000
/** The shortest sessions of the half for tuning; the bench runs all. */
const SESSIONS = 2
const RECALL = ['frr_sole', 'frr_related', 'frr_line', 'edit_line'] as const

describe.skipIf(!hasRecorded)(`the replay on recorded sessions${recordedNote}`, () => {
  let sessions: ReplaySession[] = []
  let reports: SessionReport[] = []
  beforeAll(async () => {
    const rows = recordedRows()
      .filter((row) => half(row.path) === 'tuning')
      .toSorted((a, b) => a.bytes - b.bytes)
      .slice(0, SESSIONS)
    const recorded = await Promise.all(rows.map((row) => readRecorded(row)))
    sessions = recorded.map((session, i) => toReplaySession(session, rows[i]?.path ?? ''))
    reports = sessions.map((session) => replayOne(session, { strategies: STRATEGIES, windows: [WINDOW] }))
  })

  test('no strategy sends a request that the API would refuse', () => {
    const broken = reports.flatMap((report) =>
      report.strategies.filter((row) => (row.invalid_requests ?? 0) > 0),
    )
    expect(broken.map((row) => [row.strategy, row.broken_rules])).toEqual([])
  })

  test('unmanaged, nothing is lost, in either direction of time', () => {
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

  test('a word list is good at words alone', () => {
    for (const report of reports)
      for (const { name } of managed()) {
        const soup = rowOf(report, 'soup', name)
        expect(soup.frr_sole).toBeGreaterThan(0.9)
        for (const column of ['frr_related', 'frr_line', 'edit_line'] as const)
          expect(soup[column]).toBeLessThan(0.7)
      }
  })

  test.each(STRATEGIES.map((strategy) => [strategy.name, strategy] as const))(
    '%s sees only the past: a session cut at a step gives the same views up to it, byte for byte',
    (_, strategy) => {
      for (const session of sessions) {
        const whole = [...writeViews(session, strategy, WINDOW)]
        const cut = Math.floor(session.steps.length * 0.8)
        const entries = session.entries.slice(0, session.steps[cut]?.from)
        const steps = session.steps.slice(0, cut)
        expect([...writeViews({ ...session, entries, steps }, strategy, WINDOW)]).toEqual(whole.slice(0, cut))
      }
    },
  )
})

function managed(): readonly { readonly name: string }[] {
  return STRATEGIES.filter((strategy) => !strategy.unbounded)
}

function rowOf(report: SessionReport, strategy: string, at?: string): Row {
  const row = report.strategies.find((one) => one.strategy === strategy && one.at === at)
  if (!row) throw new Error(`no row for ${strategy}`)
  return row
}
