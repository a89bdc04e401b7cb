import { describe, expect, test } from 'vitest'

import {
  judgeSummaries,
  SUMMARY_COLUMNS,
  type JudgedBoundary,
  type SummaryColumn,
  type SummaryMaker,
} from '../kit/measure-summary.ts'
import { hasRecorded, readRecorded, recordedNote, recordedSome } from '../kit/recorded.ts'

/** For CI: of two agents, five compactions. */
const SOME = [
  'claude-code/entireio-cli/8e-a9e4a4e751-0.jsonl',
  'claude-code/entireio-cli/ad-ff0201aecb-0.jsonl',
  'codex/agentv/00-34f597b72d-1.jsonl',
]

/** Before repair, of the recorded summary's figure. */
const SHARE_MIN = 0.7
/** What the proof repairs. */
const PROVEN: readonly SummaryColumn[] = ['user words', 'paths', 'errors', 'to-dos']

async function judgeAll(): Promise<JudgedBoundary[]> {
  const boundaries: JudgedBoundary[] = []
  for (const row of recordedSome(SOME)) boundaries.push(...judgeSummaries(await readRecorded(row), row.path))
  return boundaries
}

function meanOf(boundaries: readonly JudgedBoundary[], maker: SummaryMaker, column: SummaryColumn): number {
  const shares = boundaries
    .flatMap(({ summaries }) => summaries.filter((one) => one.maker === maker))
    .map((one) => one.shares[column])
    .filter(({ of }) => of > 0)
  return shares.reduce((sum, { hits, of }) => sum + hits / of, 0) / shares.length
}

describe.skipIf(!hasRecorded)(`summaries of recorded compactions${recordedNote}`, async () => {
  const boundaries = hasRecorded ? await judgeAll() : []

  test('ours have at most as many characters as the recorded ones', () => {
    for (const { summaries } of boundaries) {
      const chars = (maker: SummaryMaker): number => summaries.find((one) => one.maker === maker)?.chars ?? 0
      expect(chars('fold')).toBeLessThanOrEqual(chars('recorded'))
      expect(chars('offline')).toBeLessThanOrEqual(chars('recorded'))
    }
  })

  test.each(SUMMARY_COLUMNS)('%s: before repair, ours are within 30% of the recorded ones', (column) => {
    const least = SHARE_MIN * meanOf(boundaries, 'recorded', column)
    expect(meanOf(boundaries, 'offline', column)).toBeGreaterThanOrEqual(least)
    expect(meanOf(boundaries, 'fold', column)).toBeGreaterThanOrEqual(least)
  })

  test.each(PROVEN)(
    '%s: after repair, ours have at least as much as the recorded ones, in each compaction',
    (column) => {
      for (const { session, number, summaries } of boundaries) {
        const share = (maker: SummaryMaker): number => {
          const found = summaries.find((one) => one.maker === maker)?.shares[column]
          return found && found.of > 0 ? found.hits / found.of : 1
        }
        expect([session, number, share('offline, repaired')]).toEqual([
          session,
          number,
          Math.max(share('offline, repaired'), share('recorded')),
        ])
      }
    },
  )
})
