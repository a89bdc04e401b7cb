import assert from 'node:assert/strict'
import test from 'node:test'

import { byName } from '../src/by-name.js'

test('capital letters make no difference', () => {
  assert.deepEqual(byName(['pie', 'Soup', 'bread']), ['bread', 'pie', 'Soup'])
})
