import fc from 'fast-check'

/** Where the halves of characters lie, which are none by themselves. */
const HALVES = { first: 0xd800, count: 0x800 }
const CODE_POINT_MAX = 0x10ffff

/**
 * Any character at all, as `unit` of `fc.string`. The cases are those of `unit: 'binary'`, for which fast-check makes a table of all characters: a second
 * and a hundred megabytes in every process that draws one.
 */
export const ANY_CHARACTER: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: CODE_POINT_MAX - HALVES.count })
  .map(
    (index) => String.fromCodePoint(index < HALVES.first ? index : index + HALVES.count),
    (value) => {
      const code = typeof value === 'string' ? value.codePointAt(0) : undefined
      if (code === undefined || String.fromCodePoint(code) !== value) throw new Error('this is no character')
      return code < HALVES.first ? code : code - HALVES.count
    },
  )
