import assert from 'node:assert/strict'
import test from 'node:test'

import { shopping } from '../src/shopping.js'

test('two recipes with flour need the flour of both', () => {
  assert.deepEqual(shopping([{ flour: 250 }, { flour: 100, eggs: 120 }]), { flour: 350, eggs: 120 })
})
