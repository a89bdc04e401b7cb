import { readFileSync } from 'node:fs'

import { beforeAll, describe, expect, test } from 'vitest'

import {
  exceptionRows,
  judgeRecorded,
  REPORT_PATH,
  sessionRow,
  sumUp,
  writeReport,
  type JudgedSession,
} from '../../bench/recorded-cache.ts'
import { cacheHistory, type CacheEvent } from '../../packages/palimpsest/src/accounts/cache-history.ts'
import type { RecordedSession } from '../../packages/palimpsest/src/lab/replay/read/recorded-session.ts'
import { judge, REASONS } from '../kit/cache-exceptions.ts'
import { predictCache } from '../kit/predict-cache.ts'
import { hasRecorded, recordedNote, recordedSome } from '../kit/recorded.ts'

/** For CI: sessions with lifetimes that ran out, clearings, compactions, a side request and a break. */
const ROWS = recordedSome([
  'claude-code/entireio-cli/b6-f735fbac66-0.jsonl',
  'claude-code/entireio-cli/d1-d3bff114fe-0.jsonl',
  'claude-code/kimi-cli/28-db10720a96-0.jsonl',
])

/** Of the requests that are neither a first one, nor behind a recorded compaction, nor behind a lifetime that ran out. */
const WITHIN_SHARE_MIN = 0.97

/** Requests for which the file gives no reason at all, as a share of all. */
const LOST_SHARE_MAX = 0.01

/** Whose lifetime ran out, and which a request out of sight had kept alive all the same. The sessions for CI have none. */
const KEPT_ALIVE_MAX = process.env['SOAK'] ? 2 : 0

const LIFETIMES = { system: '1h', messages: '5m' } as const
/** Where the recording itself shows that something changed, or that the provider lost what it had. */
const TRUE_BREAKS = ['lost', 'client text', 'restart', 'out of sight', 'model change']

/** Read and judged once for all that is said about them. */
let sessions: JudgedSession[] = []
const recorded: RecordedSession[] = []
beforeAll(async () => {
  if (!hasRecorded) return
  sessions = await judgeRecorded(ROWS, (session) => recorded.push(session))
})

describe.skipIf(!hasRecorded)(`the ledger on recorded sessions${recordedNote}`, () => {
  test('every response of every Claude Code session is a request to predict', () => {
    for (const [index, session] of recorded.entries()) {
      expect(sessions[index]?.requests.map((request) => request.response.id)).toEqual(
        session.responses.map((response) => response.id),
      )
    }
  })

  test('it predicts to within 1% what the provider read from the cache, in 97% of requests', () => {
    expect(sumUp(sessions.flatMap((session) => session.requests)).ratio).toBeGreaterThanOrEqual(
      WITHIN_SHARE_MIN,
    )
  })

  test('every other request has a reason, and few cache losses have none', () => {
    const all = sessions.flatMap((session) => session.requests)
    const reasons = all.filter((request) => !request.within).map((request) => request.reason)
    for (const reason of reasons) expect(Object.keys(REASONS)).toContain(reason)
    expect(reasons).not.toContain('unexplained')
    expect(reasons.filter((reason) => reason === 'lost').length / all.length).toBeLessThan(LOST_SHARE_MAX)
  })

  test('an expired lifetime lost the cache, unless a request out of sight had renewed it', () => {
    const expired = sessions.flatMap((session) =>
      session.requests.filter((request) => request.explanation.kind === 'expired'),
    )
    expect(expired.length).toBeGreaterThan(0)
    for (const request of expired) expect(!request.inScope || request.reason === 'side request').toBe(true)
  })

  test('without lifetimes the same ledger gets them wrong', () => {
    let wrong = 0
    let expired = 0
    for (const [index, session] of recorded.entries()) {
      if (!sessions[index]?.requests.some(({ explanation }) => explanation.kind === 'expired')) continue
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
    expect(wrong).toBeGreaterThanOrEqual(expired - KEPT_ALIVE_MAX)
  })

  test('docs/recorded-cache.md has the line that the script writes for each session', () => {
    const lines = readFileSync(REPORT_PATH, 'utf8').split('\n')
    for (const session of sessions) {
      expect(lines).toContain(sessionRow(session))
      const ofSession = lines.filter(
        (line) => /^\| \S+ \| \d+ \| \d{4}-/.test(line) && line.includes(session.path),
      )
      expect(ofSession).toEqual(exceptionRows(session))
    }
  })

  test.skipIf(!process.env['SOAK'])('docs/recorded-cache.md is what the script writes', () => {
    expect(readFileSync(REPORT_PATH, 'utf8')).toBe(writeReport(sessions))
  })
})

describe.skipIf(!hasRecorded)(`breaks of the cache in recorded sessions${recordedNote}`, () => {
  const histories: (readonly CacheEvent[])[] = []
  beforeAll(() => {
    for (const { entries } of recorded) histories.push(cacheHistory(entries, LIFETIMES).events)
  })

  test('clearing, compaction and expiry are never reported', () => {
    const reported = breaksOf(sessions, histories).filter(
      ({ request }) =>
        request.between.boundary || request.between.clearing || request.explanation.kind === 'expired',
    )
    expect(reported).toEqual([])
  })

  test('what is reported did happen: the recording confirms every break', () => {
    const breaks = breaksOf(sessions, histories)
    expect(breaks.length).toBeGreaterThan(0)
    for (const { request } of breaks) expect(TRUE_BREAKS).toContain(request.reason)
  })
})

function breaksOf(judged: readonly JudgedSession[], histories: readonly (readonly CacheEvent[])[]) {
  return histories.flatMap((events, i) => {
    const requests = new Map(judged[i]?.requests.map((request) => [request.response.entries[0], request]))
    return events.flatMap(({ entry, break: broken }) => {
      const request = requests.get(entry)
      return broken && request ? [{ broken, request }] : []
    })
  })
}
