import { expect, test } from 'vitest'

import { mentionedPaths } from './attach-files.ts'
import { coldCost } from './cold-cost.ts'

const HOUR_MS = 3_600_000
const said = {
  kind: 'message',
  id: '1',
  parent: null,
  at: 0,
  origin: 'user',
  message: { role: 'user', content: 'hello' },
  json: '{"role":"user","content":"hello"}',
} as const

test('after an idle hour the next request has a price, if it is worth a question', () => {
  const model = 'claude-sonnet-5-5'
  const cost = coldCost([said], { used: 100_000 }, model, HOUR_MS)
  expect(cost).toBeGreaterThan(0)
  expect(coldCost([said], { used: 50_000 }, model, HOUR_MS)).toBeCloseTo((cost ?? 0) / 2)
  expect(coldCost([said], { used: 100_000 }, model, HOUR_MS - 1)).toBeUndefined()
  expect(coldCost([said], { used: 5_000 }, model, HOUR_MS)).toBeUndefined()
  expect(coldCost([said], { used: 100_000 }, 'no-such-model', HOUR_MS)).toBeUndefined()
  expect(coldCost([], { used: 100_000 }, model, HOUR_MS)).toBeUndefined()
})

test('files are named by @, without the punctuation that ends the sentence; an e-mail address is not a file', () => {
  expect(mentionedPaths('see @src/a.ts, and @b.md. Ask me@example.org (@c)')).toEqual(['src/a.ts', 'b.md'])
  expect(mentionedPaths('@"my picture.png" and @~/b.png')).toEqual(['my picture.png', '~/b.png'])
})
