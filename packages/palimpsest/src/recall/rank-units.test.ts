import { describe, expect, test } from 'vitest'

import { rankUnits, type ScoredRow } from './rank-units.ts'

const ROW: Omit<ScoredRow, 'unit'> = {
  id: 0,
  session: 'here',
  kind: 'tool_result',
  who: 0,
  length: 1_000,
  score: 1,
}

function order(rows: readonly (Partial<ScoredRow> & Pick<ScoredRow, 'unit'>)[]): readonly number[] {
  const asked = rows.map((row) => ({ ...ROW, id: row.unit, ...row }))
  return rankUnits({ asked, session: 'here' }).map(({ unit }) => unit)
}

describe('of results with the same words', () => {
  test('the longer comes first', () => {
    const far = Array.from({ length: 3 }, (_, i) => ({ unit: 10 + i, session: 'other', score: 0.01 }))
    expect(order([{ unit: 1, length: 20_000 }, { unit: 2, length: 300 }, ...far]).slice(0, 2)).toEqual([1, 2])
  })

  test('the newer one from the searching session comes first', () => {
    expect(order([{ unit: 1 }, { unit: 2 }, { unit: 3 }])).toEqual([3, 2, 1])
  })

  test('one next to other matches comes before an isolated one', () => {
    const session = 'other'
    const dull = [2, 3, 4, 5, 6].map((unit) => ({ unit, session, score: 0.01 }))
    const found = order([
      { unit: 1, session, score: 0.5 },
      ...dull,
      { unit: 7, session },
      { unit: 8, session, score: 0.5 },
    ])
    expect(found.slice(0, 3)).toEqual([7, 8, 1])
  })
})

test('messages rank by what they say, whatever their length', () => {
  const session = 'other'
  expect(
    order([
      { unit: 1, kind: 'user', session, length: 90_000, score: 0.5 },
      { unit: 2, kind: 'user', session, length: 200, score: 1 },
      { unit: 3, kind: 'user', session, length: 90_000, score: 0.4 },
    ]),
  ).toEqual([2, 1, 3])
})
