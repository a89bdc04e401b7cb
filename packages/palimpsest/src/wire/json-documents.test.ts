import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { documentsRemark, findDocuments } from './json-documents.ts'

const record = fc.record({
  type: fc.constantFrom('user', 'assistant', 'system'),
  uuid: fc.uuid(),
  message: fc.jsonValue(),
})

test('a line of complete documents yields each of them, whatever their spacing', () => {
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', ' ', '\t\r', '\u0000'),
      (records, gap) => {
        const texts = records.map((one) => JSON.stringify(one))
        const line = texts.join(gap)
        const { documents, skipped } = findDocuments(line)
        expect(documents.map(({ start, end }) => line.slice(start, end))).toEqual(texts)
        expect(documents.map(({ value }) => value)).toEqual(texts.map((text): unknown => JSON.parse(text)))
        expect(skipped).toBe(0)
      },
    ),
    cases(200, 20_000),
  )
})

test('documents before and after a torn one are all found, and the torn one is counted', () => {
  fc.assert(
    fc.property(
      record,
      record,
      record,
      fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      (a, torn, b, share) => {
        const [first, last] = [JSON.stringify(a), JSON.stringify(b)]
        const cut = JSON.stringify(torn).slice(0, -1)
        const part = cut.slice(0, Math.max(1, Math.floor(cut.length * share)))
        const { documents, skipped } = findDocuments(first + part + last)
        expect(documents[0]?.value).toEqual(JSON.parse(first))
        expect(documents.at(-1)?.value).toEqual(JSON.parse(last))
        expect(documents).toHaveLength(2)
        expect(skipped).toBe(part.length)
      },
    ),
    cases(200, 20_000),
  )
})

test('a torn line alone is not a document, whatever is nested in it', () => {
  fc.assert(
    fc.property(record, fc.nat({ max: 200 }), (whole, less) => {
      const line = JSON.stringify(whole)
      const torn = line.slice(0, Math.max(0, line.length - 1 - less))
      expect(findDocuments(torn).documents).toEqual([])
    }),
    cases(200, 20_000),
  )
})

test('how a line is described', () => {
  const doc = '{"type":"user","uuid":"u"}'
  const said = (line: string): string | undefined => documentsRemark(findDocuments(line))
  expect(said(doc)).toBeUndefined()
  expect(said('no JSON')).toBeUndefined()
  expect(said(doc + doc)).toBe('both JSON documents on it were read')
  expect(said(`${doc},`)).toBe('the one JSON document on it was read; 1 character of it could not be read')
})

test('a long line of opening braces is abandoned in time', () => {
  expect(findDocuments('{"a":'.repeat(100_000)).documents).toEqual([])
})
