import assert from 'node:assert/strict'
import test from 'node:test'

import { minutes } from '../src/minutes.js'

test('an hour has sixty minutes', () => {
  assert.equal(minutes('1h 30m'), 90)
  assert.equal(minutes('45m'), 45)
})
