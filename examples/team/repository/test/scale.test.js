import assert from 'node:assert/strict'
import test from 'node:test'

import { scale } from '../src/scale.js'

test('twice the people need twice of everything', () => {
  assert.deepEqual(scale({ flour: 250, sugar: 40 }, 2), { flour: 500, sugar: 80 })
})
