import assert from 'node:assert/strict'
import test from 'node:test'

import { portions } from '../src/portions.js'

test('what is left over feeds nobody', () => {
  assert.equal(portions(1000, 300), 3)
})
