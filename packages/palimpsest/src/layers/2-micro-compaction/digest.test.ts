import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { digest, DIGEST_CHARS_MAX, identifiersOf } from './digest.ts'

const everything = (): boolean => true

describe('a digest', () => {
  test('keeps new identifiers with the words of their line, in the order of the text', () => {
    const text = [
      'plain words only',
      'const maxRetries = 5',
      'see src/queue/worker.ts',
      'more plain words',
    ].join('\n')
    expect(digest(text, everything)).toBe('const maxRetries = 5\nsee src/queue/worker.ts')
  })

  test('leaves out what was already known', () => {
    const text = 'const maxRetries = 5\nsee src/queue/worker.ts'
    expect(digest(text, (identifier) => identifier !== 'maxRetries')).toBe('see src/queue/worker.ts')
    expect(digest(text, () => false)).toBe('')
  })

  test('quotes a line once, however many of its identifiers are new', () => {
    expect(digest('loadUser(user_id, roleName)', everything)).toBe('loadUser(user_id, roleName)')
  })

  test('gives the most specific identifiers priority for the room', () => {
    const symbols = Array.from({ length: 40 }, (_, i) => `a line about someName${i}Here`)
    const text = [...symbols, 'failed with TS2345'].join('\n')
    expect(digest(text, everything, 100)).toContain('failed with TS2345')
  })

  test('cuts a long line around the identifier, at spaces', () => {
    const filler = 'word '.repeat(60)
    const [clip = ''] = digest(`${filler}error ECONNRESET here ${filler}`, everything).split('\n')
    expect(clip).toMatch(/^…(word )+error ECONNRESET here( word)+…$/)
    expect(clip.length).toBeLessThanOrEqual(100)
  })

  test('is never longer than allowed, and the same every time', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', 'B', '_', '/', '.', '9', ' ', 'xyz'),
      maxLength: 120,
    })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 0, max: 400 }), (lines, max) => {
        const made = digest(lines.join('\n'), everything, max)
        expect(made.length).toBeLessThanOrEqual(max)
        expect(digest(lines.join('\n'), everything, max)).toBe(made)
      }),
      cases(500, 100_000),
    )
  })

  test('has as much room as the specification says', () => {
    expect(DIGEST_CHARS_MAX).toBe(1_200)
  })
})

test('identifiers are listed once each', () => {
  expect(identifiersOf('loadUser calls loadUser in src/a/b.ts')).toEqual(['src/a/b.ts', 'loadUser'])
})
