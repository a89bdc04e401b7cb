import assert from 'node:assert/strict'
import test from 'node:test'

import { celsius } from '../src/celsius.js'

test('water boils at 212 and freezes at 32', () => {
  assert.deepEqual([celsius(212), celsius(32)], [100, 0])
})
