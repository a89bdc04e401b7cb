import { expect, test } from 'vitest'

import { billOf, playInFront, playWork } from '../../bench/talking-work.ts'
import { startsWithAll } from '../kit/headless.ts'
import { readsAllOfItsPredecessor } from '../kit/reads-all.ts'

// What docs/messages.md says about the cost of talking, on a small scale. `npm run bench:talking` has the figures.

test('with messages at tool boundaries every request begins with all bytes of the previous one, and reads them from the cache', async () => {
  const requests = await playWork({ rounds: 4, messages: 3 })
  const bodies = requests.map(({ body }) => (typeof body === 'string' ? body : JSON.stringify(body)))
  expect(bodies.map((body) => body.match(/<agent-message from=/g)?.length ?? 0)).toEqual([0, 1, 2, 3, 3])
  expect(bodies.slice(1).map((body, i) => startsWithAll(body, bodies[i] ?? ''))).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(readsAllOfItsPredecessor(requests)).toEqual({ edits: 0, misses: [] })
  expect(billOf(requests).rewrittenTokens).toBe(0)
  // The measure sees a changed prefix where there is one.
  expect(readsAllOfItsPredecessor(playInFront(requests)).edits).toBe(3)
})
