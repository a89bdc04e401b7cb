import { expect, test } from 'vitest'

import { frozenHash, measureHash } from '../bench/replay/measure-hash.ts'

test('the measure of the replay is the frozen one; bench/replay/measure-hash.ts says how to change it', () => {
  expect(measureHash()).toBe(frozenHash())
})
