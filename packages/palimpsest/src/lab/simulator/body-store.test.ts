import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ANY_CHARACTER } from '../../../../../test/kit/any-character.ts'
import { cases } from '../../../../../test/kit/cases.ts'
import { createBodyStore, readBody, storeBody, storedChars } from './body-store.ts'

describe('stored bodies', () => {
  test('are read back unchanged, whatever was stored in between', () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.string({ unit: ANY_CHARACTER, maxLength: 8 }),
      fc.constant('\ud83d'),
      // Longer than the stretches that texts are compared in, and shorter.
      fc.constantFrom('long '.repeat(300), 'l'.repeat(33), 'l'.repeat(31)),
    )
    fc.assert(
      fc.property(fc.array(fc.array(piece, { maxLength: 12 }), { maxLength: 100 }), (all) => {
        const store = createBodyStore()
        const texts = all.map((pieces) => pieces.join(''))
        const stored = texts.map((text) => storeBody(store, text))
        expect(stored.map((body) => readBody(body))).toEqual(texts)
        const read = new Map()
        expect(stored.map((body) => readBody(body, read))).toEqual(texts)
      }),
      cases(500, 100_000),
    )
  })

  test('take only the space of new content: a hundred requests of one conversation need little more than the last', () => {
    const store = createBodyStore()
    let messages = 'x'.repeat(100_000)
    let kept = 0
    for (let i = 0; i < 60; i++) {
      messages += `,{"n":${i}}`
      kept += storedChars(
        storeBody(store, `{"messages":[${messages}],"model":"m","system":"${'s'.repeat(1_000)}"}`),
      )
    }
    expect(kept).toBeLessThan(messages.length + 5_000)
  })

  test('of two alternating conversations are kept apart', () => {
    const store = createBodyStore()
    const one = 'a'.repeat(10_000)
    const two = 'b'.repeat(10_000)
    const sizes = [one, two, `${one}1`, `${two}2`, `${one}13`].map((text) =>
      storedChars(storeBody(store, text)),
    )
    expect(sizes).toEqual([10_000, 10_000, 1, 1, 1])
  })
})
