import { expect, test } from 'vitest'

import { playReading, type ReadingSession } from '../kit/reading-session.ts'

// Clearing in batches costs no more than not clearing, whatever the window: where it would, it is left. Sessions that read much, where it
// has the most to do. The mixed sessions of `scripted.test.ts`, and recorded ones, hardly give it occasion.

const READING: readonly (readonly [string, ReadingSession])[] = [
  ['40 reads of 1,600 tokens', { reads: 40, readTokens: 1_600 }],
  ['24 reads of 4,000', { reads: 24, readTokens: 4_000 }],
]
const LONGER: typeof READING = [
  ['40 reads of 4,000', { reads: 40, readTokens: 4_000 }],
  ['60 uneven reads of about 3,000', { reads: 60, readTokens: 3_000, isUneven: true }],
  ['160 reads of 1,600', { reads: 160, readTokens: 1_600 }],
  ['80 reads of 4,000', { reads: 80, readTokens: 4_000 }],
  ['12 reads of 4,000 and 100 steps', { reads: 12, readTokens: 4_000, steps: 100 }],
  ['30 reads of 4,000 and 250 steps', { reads: 30, readTokens: 4_000, steps: 250 }],
]
const isSoak = Boolean(process.env['SOAK'])
const SESSIONS = isSoak ? [...READING, ...LONGER] : READING
const WINDOWS = isSoak ? [60_000, 100_000, 200_000] : [60_000]
/** Where a session ends right after an edit, what that would have spared is missing. */
const SHARE_MAX = 1.02

test.each(WINDOWS)('in a window of %d tokens', async (window) => {
  let [cleared, uncleared] = [0, 0]
  const shares: { [what: string]: number } = {}
  const edits: string[] = []
  for (const [what, session] of SESSIONS) {
    const [on, off] = [
      await playReading(session, window),
      await playReading(session, window, ['micro-batch']),
    ]
    shares[what] = on.costUsd / off.costUsd
    edits.push(...on.edits)
    cleared += on.costUsd
    uncleared += off.costUsd
  }
  expect(Object.entries(shares).filter(([, share]) => share > SHARE_MAX)).toEqual([])
  expect(cleared).toBeLessThanOrEqual(uncleared)
  // It is not because nothing is cleared.
  if (window === 60_000) expect([edits.length > 0, cleared < uncleared]).toEqual([true, true])
})

test.runIf(isSoak)(
  'a long conversation with few words is cleared because that pays off, and it does pay off',
  async () => {
    const session = { reads: 20, readTokens: 4_000, steps: 250 }
    const on = await playReading(session, 200_000)
    const off = await playReading(session, 200_000, ['micro-batch-pays'])
    expect(on.edits).toContain('it pays')
    expect(on.costUsd / off.costUsd).toBeLessThan(0.9)
  },
)
