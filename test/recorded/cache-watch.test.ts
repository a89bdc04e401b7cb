import { beforeAll, describe, expect, test } from 'vitest'

import { judgeRecorded, type JudgedSession } from '../../bench/recorded-cache.ts'
import { cacheHistory, type CacheEvent } from '../../packages/palimpsest/src/accounts/cache-history.ts'
import { readRecorded, hasRecorded, recordedNote, recordedRows } from '../kit/recorded.ts'

const LIFETIMES = { system: '1h', messages: '5m' } as const
/** Where the recording itself shows that something changed, or that the provider lost what it had. */
const TRUE_BREAKS = ['lost', 'client text', 'restart', 'out of sight', 'model change']

describe.skipIf(!hasRecorded)(`breaks of the cache in recorded sessions${recordedNote}`, () => {
  const histories: (readonly CacheEvent[])[] = []
  let judged: JudgedSession[] = []
  beforeAll(async () => {
    judged = await judgeRecorded()
    for (const row of recordedRows().filter(({ format }) => format === 'claude-code'))
      histories.push(cacheHistory((await readRecorded(row)).entries, LIFETIMES).events)
  })

  test('clearing, compaction and expiry are never reported', () => {
    const reported = breaksOf(judged, histories).filter(
      ({ request }) =>
        request.between.boundary || request.between.clearing || request.explanation.kind === 'expired',
    )
    expect(reported).toEqual([])
  })

  test('what is reported did happen: every break is one that the recording bears out', () => {
    const breaks = breaksOf(judged, histories)
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
