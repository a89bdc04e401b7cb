import { setImmediate } from 'node:timers/promises'

import fc from 'fast-check'
import { expect, test } from 'vitest'

import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { createCacheWatch } from '../../packages/palimpsest/src/accounts/cache-watch.ts'
import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { cases } from '../kit/cases.ts'
import { createTestAgent } from '../kit/agent.ts'

// A limit in dollars over a conversation with everything that asks a model beside it: summaries, notes, summaries made in time. The simulator bills.

const WORDS = 'Some words that say this and that about the parser and the printer. '
const SMALL = { warning: 9_000, error: 10_000, auto: 12_000, blocking: 16_000 }
const STEPS: readonly ScriptStep[] = [
  {
    content: [{ type: 'text', text: `<summary>${WORDS.repeat(12)}</summary>` }],
    when: { source: 'compact' },
    times: 99,
  },
  {
    content: [{ type: 'text', text: `# Title\n${WORDS.repeat(12)}` }],
    when: { source: 'session-memory' },
    times: 99,
  },
  {
    content: [{ type: 'tool_use', name: 'Echo', input: { text: WORDS.repeat(30) } }],
    when: { bodyContains: 'call it' },
  },
  { content: [{ type: 'text', text: WORDS.repeat(25) }], times: 999 },
]
/** Of the model that is asked here. */
const OUTPUT_USD = 20 / 1_000_000

test('whatever the limit, no more is spent than the limit and one answer of a fork; the turn says what is missing', async () => {
  const ends: string[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0.0001, max: 0.6, noNaN: true }),
      fc.constantFrom<'freely' | undefined>('freely', undefined),
      fc.constantFrom(0, 6 * 60_000),
      async (maxUsd, prepares, pauseMs) => {
        const agent = createTestAgent({
          maxUsd,
          ...(prepares ? { prepares } : { notes: { eager: true, scale: 0.06 } }),
          simulator: { script: STEPS },
          setup: {
            thresholds: SMALL,
            compaction: { host: NO_HOST, isOn: true, scale: 0.06 },
            cacheWatch: createCacheWatch(),
          },
        })
        for (let turn = 0; turn < 14; turn++) {
          const { end } = await agent.say(`${turn}: ${WORDS.repeat(8)}`)
          if (end.reason === 'max-cost') {
            expect(end.neededUsd).toBeGreaterThan(end.leftUsd ?? Infinity)
            ends.push(end.reason)
            break
          }
          expect(end).toEqual({ reason: 'answered' })
          // What was begun beside the turn is on its way before minutes pass.
          await setImmediate()
          agent.wait(pauseMs)
        }
        const requests = agent.simulator.requests()
        const spent = requests.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
        const longest = Math.max(0, ...requests.map(({ usage }) => usage?.output_tokens ?? 0))
        expect(spent).toBeLessThanOrEqual(maxUsd + longest * OUTPUT_USD)
      },
    ),
    { ...cases(6, 400), examples: [[0.3325396, 'freely', 6 * 60_000]] },
  )
  expect(ends.length).toBeGreaterThan(0)
})
