import { describe, expect, test } from 'vitest'

import { allBlocks, inventSession } from '../../../../../../test/kit/invented-session.ts'
import { buildCorpus } from './corpus.ts'
import { createExcerptFinder } from './excerpts.ts'
import { makePage, wholePage } from './sight.ts'

// Lines of the history:
//  0 user    Look.
//  1 call    Read
//  2 call    /p/a.ts
//  3 result  import { one } from './one.ts'
//  4 result
//  5 result  export function two(): number {
//  6 result    const half = one() / 2
//  7 result    return half
//  8 result  }
//  9 result
// 10 result  export const three = 3
// 11 result  // the end
const FILE = [
  "import { one } from './one.ts'",
  '',
  'export function two(): number {',
  '  const half = one() / 2',
  '  return half',
  '}',
  '',
  'export const three = 3',
  '// the end',
]
const session = inventSession([
  { user: 'Look.' },
  { calls: [{ name: 'Read', input: { file_path: '/p/a.ts' }, result: FILE.join('\n') }] },
])
const finder = createExcerptFinder(buildCorpus(session.entries, allBlocks(session)))

const spans = (text: string): string[] =>
  finder.excerptsIn(wholePage(makePage(text, false))).map(({ from, end }) => `${from}-${end}`)

describe('an excerpt', () => {
  test('is three consecutive lines of one block, unchanged', () => {
    expect(spans(`Of a.ts:\n${FILE.slice(2, 5).join('\n')}\nand more`)).toEqual(['5-8'])
  })

  test('has the line numbers that a reader adds, or none', () => {
    const numbered = FILE.slice(2, 6).map((line, i) => `${String(i + 3).padStart(6)}→${line}`)
    expect(spans(numbered.join('\n'))).toEqual(['5-9'])
  })

  test('extends as far as the lines match, including blank lines and braces', () => {
    expect(spans(['no', ...FILE.slice(1, 8), 'no'].join('\n'))).toEqual(['4-11'])
  })

  test.each([
    ['one line', [FILE[3]]],
    ['two lines', FILE.slice(2, 4)],
    ['two lines of content, with a brace and a blank line', [FILE[4], FILE[5], FILE[6], FILE[7]]],
    ['lines with a gap between them', [FILE[2], FILE[3], FILE[7], FILE[8]]],
    ['lines in a different order', [FILE[4], FILE[3], FILE[2]]],
    ['lines that lost their indentation', [FILE[2], FILE[3]?.trim(), FILE[4]?.trim()]],
    ['lines with a prefix', FILE.slice(2, 5).map((line) => `- ${line}`)],
  ])('is not %s', (_, lines) => {
    expect(spans(lines.join('\n'))).toEqual([])
  })

  test('does not extend from one block into the next', () => {
    const [last, next] = ['// the end', 'Gone.']
    const more = inventSession([
      { user: 'Look.' },
      { calls: [{ name: 'Read', input: { file_path: '/p/a.ts' }, result: FILE.join('\n') }] },
      { say: `${next}\nfor good` },
    ])
    const found = createExcerptFinder(buildCorpus(more.entries, allBlocks(more)))
    const page = makePage([FILE[7], last, next, 'for good'].join('\n'), false)
    expect(found.excerptsIn(wholePage(page))).toEqual([])
  })

  test('counts its characters once, however often it occurs in the history', () => {
    const read = { name: 'Read', input: { file_path: '/p/a.ts' }, result: FILE.join('\n') }
    const twice = inventSession([{ user: 'Look.' }, { calls: [read] }, { calls: [read] }])
    const found = createExcerptFinder(buildCorpus(twice.entries, allBlocks(twice)))
    const piece = FILE.slice(2, 5).join('\n')
    const page = makePage(`Of a.ts:\n${piece}\nand more`, false)
    expect(found.excerptsIn(wholePage(page))).toHaveLength(2)
    expect(found.charsIn(page)).toBe(piece.length)
  })
})
