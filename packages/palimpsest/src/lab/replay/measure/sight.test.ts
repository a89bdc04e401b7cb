import { describe, expect, test } from 'vitest'

import {
  BARE_LIST_MAX,
  isInBareList,
  isNear,
  makePage,
  mentions,
  placesIn,
  RELATED_CHARS,
  wholePage,
} from './sight.ts'

const made = (text: string): ReturnType<typeof wholePage> => wholePage(makePage(text, true))

describe('a made text', () => {
  test('contains a string only as a whole', () => {
    expect(placesIn(made('user_names user_name xuser_name'), 'user_name')).toEqual([11])
    expect(placesIn(made('/srv/app/login.ts'), 'app/login.ts')).toEqual([5])
  })

  test('extends no further than its own range', () => {
    const page = makePage('foo_bar baz_qux foo_bar', true)
    expect(placesIn({ page, start: 4, end: 23 }, 'foo_bar')).toEqual([16])
  })

  test(`relates strings within ${RELATED_CHARS} characters`, () => {
    const near = `foo_bar${' '.repeat(RELATED_CHARS - 'baz_qux'.length)}baz_qux`
    expect(isNear(made(near), 0, 'foo_bar', ['baz_qux'])).toBe(true)
    const far = `foo_bar${' '.repeat(RELATED_CHARS - 'baz_qux'.length + 1)}baz_qux`
    expect(isNear(made(far), 0, 'foo_bar', ['baz_qux'])).toBe(false)
  })

  const names = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `name_${'x'.repeat(i + 1)}`)

  test.each([' ', ', ', '\n- ', ' | '])(
    `says nothing in a list of more than ${BARE_LIST_MAX}, separated by %j`,
    (gap) => {
      const short = made(names(BARE_LIST_MAX).join(gap))
      const long = made(names(BARE_LIST_MAX + 1).join(gap))
      expect(mentions(short, 'name_xx')).toBe(true)
      expect(mentions(long, 'name_xx')).toBe(false)
      expect(isInBareList(long, long.page.text.indexOf('name_xxxxxxxxx'))).toBe(true)
    },
  )

  test.each([
    ['a word after every eighth name', (name: string, i: number) => (i % 8 === 7 ? `${name} and` : name)],
    ['the same word after each name', (name: string) => `${name} returns`],
    ['a number before each name', (name: string, i: number) => `${i + 1}. ${name}`],
    ['letters between', (name: string, i: number) => `${name} ${'abcdefghij'[i % 10]}`],
  ])('is still a list with %s', (_, dress) => {
    const text = made(
      names(BARE_LIST_MAX + 4)
        .map(dress)
        .join(' '),
    )
    expect(mentions(text, 'name_xx')).toBe(false)
  })

  test('is not a list if the names come with other words', () => {
    const words = 'reads opens writes closes counts finds sorts keeps sends moves joins drops'.split(' ')
    const text = made(
      names(BARE_LIST_MAX + 4)
        .map((name, i) => `${name} ${words[i]}`)
        .join(', '),
    )
    expect(mentions(text, 'name_xx')).toBe(true)
  })
})
