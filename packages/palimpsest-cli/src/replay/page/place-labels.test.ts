import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { placeLabels, type Point } from './place-labels.ts'

const FRAME = { left: 0, right: 400, top: 0, bottom: 300 }

test('a name is to the right of its dot where there is room, otherwise on another side', () => {
  const points: Point[] = [
    { name: 'left', x: 20, y: 100, radius: 4 },
    { name: 'edge', x: 390, y: 100, radius: 4 },
  ]
  expect(placeLabels(points, FRAME, '').map(({ name, anchor }) => `${name} ${anchor}`)).toEqual([
    'left start',
    'edge end',
  ])
})

test('where all dots are in one place, the name that matters is shown', () => {
  const points = Array.from({ length: 30 }, (_, index) => ({
    name: `name-${index}`,
    x: 200,
    y: 150,
    radius: 4,
  }))
  const labels = placeLabels(points, FRAME, 'name-29')
  expect(labels[0]?.name).toBe('name-29')
  expect(labels.length).toBeLessThan(10)
})

test('no name leaves the frame, and none is shown twice', () => {
  const point = fc.record({
    x: fc.integer({ min: 0, max: 400 }),
    y: fc.integer({ min: 0, max: 300 }),
    radius: fc.constant(4),
    name: fc.string({ minLength: 1, maxLength: 14 }),
  })
  fc.assert(
    fc.property(fc.uniqueArray(point, { selector: ({ name }) => name, maxLength: 20 }), (points) => {
      const labels = placeLabels(points, FRAME, '')
      expect(new Set(labels.map(({ name }) => name)).size).toBe(labels.length)
      for (const { x, y } of labels) {
        expect(x >= FRAME.left && x <= FRAME.right).toBe(true)
        expect(y >= FRAME.top && y <= FRAME.bottom).toBe(true)
      }
    }),
    cases(500, 100_000),
  )
})
