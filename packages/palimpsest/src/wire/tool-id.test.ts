import fc from 'fast-check'
import { expect, test } from 'vitest'

import { ANY_CHARACTER } from '../../../../test/kit/any-character.ts'
import { cases } from '../../../../test/kit/cases.ts'
import { freeToolId } from './tool-id.ts'

test('whatever ids arrive, each is used once, in a form that the API accepts', () => {
  const anyId = fc.oneof(
    fc.string({ unit: ANY_CHARACTER, maxLength: 80 }),
    fc.constantFrom('', 'call_0', 'call_0-2', 'toolu_01', '../../etc', 'x'.repeat(500), 'x'.repeat(41)),
  )
  fc.assert(
    fc.property(fc.array(anyId, { maxLength: 60 }), (ids) => {
      const taken = new Set<string>()
      for (const id of ids) {
        const free = freeToolId(id, (other) => taken.has(other))
        expect(free).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
        expect(taken.has(free)).toBe(false)
        taken.add(free)
      }
    }),
    cases(500, 100_000),
  )
})

test('a valid id is unchanged, and a duplicate gets a number', () => {
  expect(freeToolId('toolu_01A09q90qw90lq917835lq9', () => false)).toBe('toolu_01A09q90qw90lq917835lq9')
  expect(freeToolId('call_1', (id) => id === 'call_1' || id === 'call_1-2')).toBe('call_1-3')
  expect(freeToolId('functions.Read:0', () => false)).toBe('functions_Read_0')
})
