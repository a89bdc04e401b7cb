import { readFileSync } from 'node:fs'

import { beforeAll, describe, expect, test } from 'vitest'

import {
  judgeRecorded,
  REPORT_PATH,
  sumUp,
  writeReport,
  type JudgedSession,
} from '../../bench/recorded-cache.ts'
import { judge, REASONS } from '../kit/cache-exceptions.ts'
import { predictCache } from '../kit/predict-cache.ts'
import { hasRecorded, readRecorded, recordedNote, recordedRows } from '../kit/recorded.ts'

/** Of the requests that are neither a first one, nor behind a recorded compaction, nor behind a lifetime that ran out. */
const WITHIN_SHARE_MIN = 0.97

/** Requests for which the file gives no reason at all, as a share of all. */
const LOST_SHARE_MAX = 0.01

describe.skipIf(!hasRecorded)(`the ledger on recorded sessions${recordedNote}`, () => {
  let sessions: JudgedSession[] = []
  beforeAll(async () => {
    sessions = await judgeRecorded()
  })

  test('every response of every Claude Code session is a request to predict', async () => {
    for (const [index, row] of recordedRows()
      .filter((r) => r.format === 'claude-code')
      .entries()) {
      const session = await readRecorded(row)
      expect(sessions[index]?.requests.map((request) => request.response.id)).toEqual(
        session.responses.map((response) => response.id),
      )
    }
  })

  test('it says within 1% what the provider read from the cache, in 97% of requests', () => {
    expect(sumUp(sessions.flatMap((session) => session.requests)).ratio).toBeGreaterThanOrEqual(
      WITHIN_SHARE_MIN,
    )
  })

  test('every other request has a reason, and few are lost without any', () => {
    const all = sessions.flatMap((session) => session.requests)
    const reasons = all.filter((request) => !request.within).map((request) => request.reason)
    for (const reason of reasons) expect(Object.keys(REASONS)).toContain(reason)
    expect(reasons).not.toContain('unexplained')
    expect(reasons.filter((reason) => reason === 'lost').length / all.length).toBeLessThan(LOST_SHARE_MAX)
  })

  test('a lifetime that ran out cost the cache, but where a request out of sight had renewed it', () => {
    const expired = sessions.flatMap((session) =>
      session.requests.filter((request) => request.explanation.kind === 'expired'),
    )
    expect(expired.length).toBeGreaterThan(0)
    for (const request of expired) expect(!request.inScope || request.reason === 'side request').toBe(true)
  })

  test('without lifetimes the same ledger is wrong about them', async () => {
    let wrong = 0
    let expired = 0
    for (const [index, row] of recordedRows()
      .filter((r) => r.format === 'claude-code')
      .entries()) {
      const session = await readRecorded(row)
      const timeless = {
        ...session,
        responses: session.responses.map((response) => ({ ...response, requestedAt: 0, at: 0, endedAt: 0 })),
      }
      for (const [n, request] of predictCache(timeless).map(judge).entries()) {
        if (sessions[index]?.requests[n]?.explanation.kind !== 'expired') continue
        expired++
        if (!request.within) wrong++
      }
    }
    // The ones it gets right all the same are those that a request out of sight had kept alive.
    expect(wrong).toBeGreaterThanOrEqual(expired - 2)
  })

  test('docs/recorded-cache.md is what the script writes', () => {
    expect(readFileSync(REPORT_PATH, 'utf8')).toBe(writeReport(sessions))
  })
})
