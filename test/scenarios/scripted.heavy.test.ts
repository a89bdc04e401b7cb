import { expect, test } from 'vitest'

import {
  expectGolden,
  sessionOfSize,
  SESSION_SIZES,
  unmanagedIn,
  unmanagedOf,
  type SessionSize,
  type Unmanaged,
} from '../kit/golden-ledger.ts'
import { brokenPrefixes, playScripted } from '../kit/play-scripted.ts'

// Sessions longer than the window: management must earn its keep. What it keeps of their content is the replay's to judge.

const MODEL = 'claude-opus-5'
const HIT_RATE_MIN = 0.95
const COST_SHARE_MAX = 0.75
/** The longest one takes its time: requests of up to 900,000 tokens, by the hundred, read and judged whole. */
const SIZES: readonly SessionSize[] = process.env['SOAK'] ? ['250k', '900k'] : ['250k']
const TIMEOUT_MS = 600_000

test.each(SIZES)(
  'a session of %s tokens costs at most three quarters of what it costs unmanaged',
  async (size) => {
    const session = sessionOfSize(size)
    const unmanaged = process.env['SOAK'] ? await costUnmanaged(size) : await unmanagedIn(`${size}-in-200k`)
    const managed = await playScripted(session, { model: MODEL, window: 200_000 })
    expect(brokenPrefixes(managed.rows)).toEqual([])
    await expectGolden(`${size}-in-200k`, managed, unmanaged)
    expect(managed.costUsd / unmanaged.costUsd).toBeLessThanOrEqual(COST_SHARE_MAX)
    expect(managed.hitRate).toBeGreaterThanOrEqual(HIT_RATE_MIN)
    // In a small window it costs far less: CI plays one for its bytes (`bound-thinking.test.ts`) and the shortest for its cost (`scripted.test.ts`).
    if (!process.env['SOAK']) return
    const small = await playScripted(session, { model: MODEL, window: 60_000 })
    expect(brokenPrefixes(small.rows)).toEqual([])
    await expectGolden(`${size}-in-60k`, small, unmanaged)
    expect(small.costUsd / unmanaged.costUsd).toBeLessThanOrEqual(COST_SHARE_MAX)
  },
  TIMEOUT_MS,
)

/** Nothing of ours is in it, and it takes longer than the rest: a soak plays it, and `scripted.test.ts` does with the shortest. */
async function costUnmanaged(size: SessionSize): Promise<Unmanaged> {
  const played = await playScripted(sessionOfSize(size), { model: MODEL, window: 'unmanaged' })
  expect((played.rows.at(-1)?.request.input_tokens ?? 0) / SESSION_SIZES[size]).toBeCloseTo(1, 1)
  return unmanagedOf(played)
}
