import { expect, test } from 'vitest'

import { createCompactionNews } from './compaction-news.ts'

const stopped = { kind: 'stopped', why: 'it helps no longer' } as const
const refused = (why: string) => ({ kind: 'refused', why }) as const

test('a stop of compaction is reported once after each boundary, and in each conversation', () => {
  const isNews = createCompactionNews()
  const asked = ['a', 'a', 'b', 'a', undefined, undefined].map((boundary) =>
    isNews(stopped, { began: false, boundary }),
  )
  expect(asked).toEqual([true, false, true, false, true, true])
  expect(createCompactionNews()(stopped, { began: false, boundary: 'a' })).toBe(true)
})

test('an objection is reported when it changes; having nothing to do is never reported', () => {
  const isNews = createCompactionNews()
  const hear = (why: string, began = true) => isNews(refused(why), { began, boundary: undefined })
  expect([hear('no'), hear('no'), hear('nothing new', false), hear('no'), hear('later'), hear('no')]).toEqual(
    [true, false, false, false, true, true],
  )
})
