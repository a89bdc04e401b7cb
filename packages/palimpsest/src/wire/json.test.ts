import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { ANY_CHARACTER } from '../../../../test/kit/any-character.ts'
import { cases } from '../../../../test/kit/cases.ts'
import { findMember, isJsonObject, splitArray, splitObject, withMember, withoutMember } from './json.ts'

const RUNS = cases(200, 50_000)

/** White space, as any printer might leave it. */
const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/)

/** Numbers whose text `JSON.stringify` would not give back. */
const oddNumber = fc.constantFrom('1.0', '-0', '1e3', '1E-7', '12345678901234567890', '0.10', '-1.5e+10')

const key = fc.oneof(
  fc.constantFrom('cache_control', 'content', '10', '2', '__proto__', '', 'a"b', 'a\\', '\u2028'),
  fc.string({ unit: ANY_CHARACTER }),
)

/** A key's text: as printed, or with every character as an escape. */
const keyText = fc
  .tuple(key, fc.boolean())
  .map(([name, escaped]) => (escaped ? `"${escapeAll(name)}"` : JSON.stringify(name)))

/** Texts of JSON values, with odd numbers, repeated keys, odd keys and white space in every place where it may be. */
const { valueText } = fc.letrec<{ valueText: string }>((tie) => ({
  valueText: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    oddNumber,
    fc.constantFrom('true', 'false', 'null', '""', '"]}"', '"\\\\"', '"\\\\\\""', '"{\\"a\\":[1,2]}"'),
    fc.string({ unit: ANY_CHARACTER }).map((text) => JSON.stringify(text)),
    fc.array(fc.tuple(space, tie('valueText'), space), { maxLength: 4 }).map(arrayText),
    fc
      .array(fc.tuple(space, keyText, space, space, tie('valueText'), space), { maxLength: 4 })
      .map(objectText),
  ),
}))
const members = fc.array(fc.tuple(space, keyText, space, space, valueText, space), { maxLength: 6 })
const elements = fc.array(fc.tuple(space, valueText, space), { maxLength: 6 })

describe('an object is cut at its exact borders', () => {
  test('keys are those that JSON.parse reads, values are the exact bytes between them', () => {
    fc.assert(
      fc.property(members, space, (parts, around) => {
        const text = around + objectText(parts) + around
        expect(splitObject(text)).toEqual(
          parts.map(([, name, , , value]) => ({ key: JSON.parse(name), value })),
        )
      }),
      RUNS,
    )
  })

  test('the last of repeated keys counts, as in JSON.parse', () => {
    fc.assert(
      fc.property(members, key, (parts, wanted) => {
        const text = objectText(parts)
        const found = findMember(text, wanted)
        const parsed: object = JSON.parse(text)
        const expected = Object.getOwnPropertyDescriptor(parsed, wanted)
        expect(found === undefined ? undefined : { value: JSON.parse(found) }).toEqual(
          expected && { value: expected.value },
        )
      }),
      RUNS,
    )
  })

  test('a removed member takes nothing with it except its comma', () => {
    fc.assert(
      fc.property(members, fc.constantFrom('cache_control', 'content', '10'), (parts, name) => {
        const text = objectText(parts)
        const kept = splitObject(text).filter((member) => member.key !== name)
        const without = withoutMember(text, name)
        expect(splitObject(without)).toEqual(kept)
        expect(() => JSON.parse(without)).not.toThrow()
        if (kept.length === parts.length) expect(without).toBe(text)
      }),
      RUNS,
    )
  })

  test('adding a member and removing it again leaves the same bytes', () => {
    fc.assert(
      fc.property(members, valueText, (parts, value) => {
        const text = withoutMember(objectText(parts), 'cache_control')
        const marked = withMember(text, 'cache_control', value)
        expect(findMember(marked, 'cache_control')).toBe(value)
        expect(splitObject(marked).slice(0, -1)).toEqual(splitObject(text))
        expect(splitObject(withoutMember(marked, 'cache_control'))).toEqual(splitObject(text))
      }),
      RUNS,
    )
  })

  test('an object without its marker is the object printed without it, however it is printed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), fc.nat(4), (value, indent, at) => {
        const plain: [string, unknown][] = [
          ['type', 'text'],
          ['text', 'a "cache_control" b'],
          ['more', value],
        ]
        const marked = plain.toSpliced(at, 0, ['cache_control', { type: 'ephemeral', ttl: '1h' }])
        const print = (entries: [string, unknown][]): string =>
          JSON.stringify(Object.fromEntries(entries), null, indent)
        expect(withoutMember(print(marked), 'cache_control')).toBe(print(plain))
      }),
      RUNS,
    )
  })

  test('the marker is found even if its spelling is escaped', () => {
    const text = `{"a":1,"${escapeAll('cache_control')}":{"type":"ephemeral"}}`
    expect(withoutMember(text, 'cache_control')).toBe('{"a":1}')
  })

  test('an object that loses its only member stays an object', () => {
    expect(withoutMember('{ "a" : 1 }', 'a')).toBe('{  }')
    expect(withMember('{  }', 'a', '1')).toBe('{  "a":1}')
  })
})

describe('an array is cut at its exact borders', () => {
  test('elements are the exact bytes between the commas', () => {
    fc.assert(
      fc.property(elements, space, (parts, around) => {
        const text = around + arrayText(parts) + around
        expect(splitArray(text)).toEqual(parts.map(([, value]) => value))
        expect(JSON.parse(text)).toEqual(splitArray(text).map((element) => JSON.parse(element)))
      }),
      RUNS,
    )
  })
})

describe('size does not matter', () => {
  test('values nested 200,000 deep', () => {
    const depth = 200_000
    const deep = '['.repeat(depth) + ']'.repeat(depth)
    expect(splitArray(deep)).toEqual([deep.slice(1, -1)])
    expect(splitObject(`{"a":${deep},"b":1}`)).toEqual([
      { key: 'a', value: deep },
      { key: 'b', value: '1' },
    ])
  })

  test('strings of megabytes, with a quote or a backslash in every other position', () => {
    const chars = process.env['SOAK'] ? 5_000_000 : 1_500_000
    for (const unit of ['x', '\\"', '\\\\', '}', '\\u0022']) {
      const value = `"${unit.repeat(chars / unit.length)}"`
      expect(splitObject(`{"a":${value},"b":${value}}`).map((member) => member.value)).toEqual([value, value])
      expect(withoutMember(`{"a":${value},"cache_control":1}`, 'cache_control')).toBe(`{"a":${value}}`)
    }
  })
})

test('an object is distinguished from an array, null and a scalar', () => {
  expect([{}, [], null, 'x', 1].map(isJsonObject)).toEqual([true, false, false, false, false])
})

function objectText(parts: readonly (readonly [string, string, string, string, string, string])[]): string {
  const members = parts.map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`)
  return `{${members.join(',')}}`
}

function arrayText(parts: readonly (readonly [string, string, string])[]): string {
  return `[${parts.map(([before, value, after]) => before + value + after).join(',')}]`
}

function escapeAll(text: string): string {
  let escaped = ''
  for (let i = 0; i < text.length; i++) escaped += `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`
  return escaped
}
