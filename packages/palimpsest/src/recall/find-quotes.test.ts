import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { createBestHits, type RecallHit } from './best-hits.ts'
import { ALL_WORDS, EXACT, findQuotes, PART, QUOTE_CHARS_MAX, WHOLE_WORD } from './find-quotes.ts'
import { toQuery, type RecallQuery } from './query.ts'

function query(text: string): RecallQuery {
  const made = toQuery(text)
  if (!made) throw new Error('an empty query')
  return made
}

const scores = (text: string, wanted: string): readonly number[] =>
  findQuotes(text, query(wanted)).map(({ score }) => score)

describe('quotes', () => {
  test('are whole lines with the two lines around them, word for word', () => {
    const text = 'one\ntwo\nthree\n\tfour parseConfig(x) \nfive\nsix\nseven'
    expect(findQuotes(text, query('parseConfig'))).toEqual([
      { quote: '\tfour parseConfig(x) ', before: 'two\nthree', after: 'five\nsix', score: EXACT },
    ])
  })

  test('rank an exact match before a different case, that before a partial word, that before scattered words', () => {
    expect(scores('a Port here', 'Port')).toEqual([EXACT])
    expect(scores('a port here', 'Port')).toEqual([WHOLE_WORD])
    expect(scores('a Portable here', 'Port')).toEqual([PART])
    expect(scores('the port of the server', 'server port')).toEqual([ALL_WORDS])
    expect(scores('a Portable\na port\nPort!', 'Port')).toEqual([EXACT, WHOLE_WORD, PART])
  })

  test('need all words of a query on one line', () => {
    expect(scores('the port\nof the server', 'server port')).toEqual([])
    expect(scores('nothing', 'anything')).toEqual([])
  })

  test('find a phrase across a line end and quote both lines', () => {
    const [first] = findQuotes('x\nnever touch\nthe lock\ny', query('touch the lock'))
    expect(first?.quote).toBe('never touch\nthe lock')
  })

  test('treat pattern characters literally', () => {
    expect(scores('cost is $5.00 (five)', '$5.00 (five)')).toEqual([EXACT])
    expect(scores('cost is 5x00', '5.00')).toEqual([])
  })

  test('shorten a long line around the match', () => {
    const [first] = findQuotes(`${'a '.repeat(9_000)}needle${' b'.repeat(9_000)}`, query('needle'))
    expect(first?.quote).toContain('needle')
    expect(first?.quote.length).toBeLessThanOrEqual(QUOTE_CHARS_MAX)
  })

  test('find any line of any text, and quote it as it is there', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.nat(), (lines, n) => {
        const wanted = lines[n % lines.length] ?? ''
        const made = toQuery(wanted)
        if (!made) return
        const text = lines.join('\n')
        const found = findQuotes(text, made)
        expect(found.length).toBeGreaterThan(0)
        for (const { quote, before, after } of found)
          for (const part of [quote, before, after]) expect(text).toContain(part)
      }),
      cases(500, 100_000),
    )
  })
})

describe('a line is skipped only if it cannot match the query', () => {
  test.each(['parseConfig', 'a "quoted" \\ thing', 'größe', '設定ファイル', 'Ünï cödé', '!?', 'x\ty'])(
    '%s',
    (wanted) => {
      const { mayHold } = query(wanted)
      const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
      const escaped = JSON.stringify({ text: wanted }).replaceAll(
        /[^\0-~]/gu,
        (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      expect(mayHold(bytes(JSON.stringify({ text: `so: ${wanted}.` })))).toBe(true)
      expect(mayHold(bytes(JSON.stringify({ text: wanted.toUpperCase() })))).toBe(true)
      expect(mayHold(escaped)).toBe(true)
    },
  )

  test('and most lines are skipped', () => {
    expect(query('parseConfig').mayHold('{"text":"something else"}')).toBe(false)
    expect(query('設定').mayHold('{"text":"something else"}')).toBe(false)
  })
})

describe('the best hits', () => {
  const hit = (id: string, score: number, at: number): RecallHit => ({
    id,
    session: 's',
    at,
    kind: 'user',
    quote: 'q',
    before: '',
    after: '',
    score,
  })

  test('are those with the higher scores, and of equals the newer ones, however many there were', () => {
    const best = createBestHits(3)
    for (let i = 0; i < 1_000; i++) best.add(hit(`p${i}`, PART, i))
    best.add(hit('old', EXACT, 1))
    best.add(hit('timeless', EXACT, Number.NaN))
    expect(best.list().map(({ id }) => id)).toEqual(['old', 'timeless', 'p999'])
  })

  test('contain each quote of an entry once', () => {
    const best = createBestHits(3)
    best.add(hit('a', PART, 1))
    best.add({ ...hit('a', PART, 1), session: 'fork' })
    expect(best.list()).toHaveLength(1)
  })
})
