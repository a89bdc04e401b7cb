import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { diffTexts } from './diff-lines.ts'
import { highlightCode } from './highlight-code.ts'
import { endMarkdown, feedMarkdown, MARKDOWN_START, markdownLines } from './markdown-lines.ts'
import { cutLine, line, lineText, lineWidth, paintLine, span, wrapLine } from './styled-line.ts'
import { cutToWidth, splitGraphemes, textWidth } from './text-width.ts'

const words = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', 'é', '宽', '👍', '👩‍👩‍👧', 'e\u0301', '한'),
  maxLength: 120,
})

describe('width', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['宽字符', 6],
    ['👍', 2],
    ['👩‍👩‍👧', 2],
    ['e\u0301', 1],
    ['한글', 4],
    ['🇩🇪', 2],
  ])('%j takes %d columns', (text, columns) => {
    expect(textWidth(text)).toBe(columns)
  })

  test('every character up to the dingbats takes as many as the library says, and is one piece by itself', () => {
    const wrong: string[] = []
    for (let code = 0x20; code < 0x2800; code++) {
      const text = String.fromCharCode(code)
      if (textWidth(text) !== stringWidth(text) || splitGraphemes(text).length !== 1)
        wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
  })

  test('a text that is cut never takes more columns than there are', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 0, max: 40 }), (text, columns) => {
        expect(textWidth(cutToWidth(text, columns))).toBeLessThanOrEqual(columns)
        expect(lineWidth(cutLine([span(text), span(text, 'bold')], columns))).toBeLessThanOrEqual(columns)
      }),
      cases(100, 5_000),
    )
  })
})

describe('wrapping', () => {
  test('no line is wider than the screen, and nothing but spaces is lost', () => {
    fc.assert(
      fc.property(
        words,
        words,
        fc.integer({ min: 2, max: 40 }),
        fc.nat(12),
        (first, second, columns, hang) => {
          const lines = wrapLine([span(first), span(second, 'bold')], columns, line(' '.repeat(hang)))
          for (const each of lines) expect(lineWidth(each)).toBeLessThanOrEqual(columns)
          const bare = (text: string): string => text.replaceAll(' ', '')
          expect(bare(lines.map(lineText).join(''))).toBe(bare(first + second))
        },
      ),
      cases(80, 10_000),
    )
  })

  test('breaks at spaces, and indents later lines', () => {
    const lines = wrapLine([span('- one two three four')], 10, [span('  ')])
    expect(lines.map(lineText)).toEqual(['- one two', '  three', '  four'])
  })

  test('without colour a line is its text alone', () => {
    expect(paintLine([span('a', 'error'), span('b')], false)).toBe('ab')
    expect(paintLine([span('a', 'error'), span('b')], true)).toBe('\x1b[31ma\x1b[0mb')
  })
})

describe('markdown', () => {
  const TEXT =
    '# Title\n\nSome **bold** and `code` and [a link](http://x).\n\n- item\n  1. inner\n- [x] done\n\n> quoted\n\n```ts\nconst a = 1 // one\n# no heading\n```\n---\nend'

  test('is drawn line by line', () => {
    expect(markdownLines(TEXT, 60).map(lineText)).toEqual([
      'Title',
      '',
      'Some bold and code and a link (http://x).',
      '',
      '• item',
      '  1. inner',
      '☑ done',
      '',
      '│ quoted',
      '',
      '  ┄ ts',
      '  const a = 1 // one',
      '  # no heading',
      '  ┄',
      '────────────────────────',
      'end',
    ])
  })

  test('comes out the same however the stream cuts it', () => {
    const whole = markdownLines(TEXT, 40)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (sizes) => {
        let state = MARKDOWN_START
        const lines = []
        for (let at = 0, i = 0; at < TEXT.length; i++) {
          const size = sizes[i % sizes.length] ?? 1
          const fed = feedMarkdown(state, TEXT.slice(at, at + size), 40)
          state = fed.state
          lines.push(...fed.lines)
          at += size
        }
        expect([...lines, ...endMarkdown(state, 40)]).toEqual(whole)
      }),
      cases(50, 2_000),
    )
  })

  test('what a terminal would obey is made visible', () => {
    expect(markdownLines('a\x1b[2Jb', 60).map(lineText)).toEqual(['a\\x1b[2Jb'])
    expect(markdownLines('```\n\x1b]0;x\x07\n```', 60).map(lineText)[1]).toBe('  \\x1b]0;x\\x07')
  })

  test('names in snake case are not emphasis', () => {
    expect(markdownLines('call my_own_name and 2 * 3 * 4', 60)).toEqual([
      line('call my_own_name and 2 * 3 * 4'),
    ])
  })
})

test('code is highlighted by words, strings, comments and numbers, and none of it is lost', () => {
  expect(highlightCode("const a = 'x' + 12 // why", 'ts').filter(({ style }) => style !== 'plain')).toEqual([
    span('const', 'keyword'),
    span("'x'", 'string'),
    span('12', 'number'),
    span('// why', 'comment'),
  ])
  expect(lineText(highlightCode('echo "$#" # all', 'bash'))).toBe('echo "$#" # all')
})

test('a diff leads from one text to the other', () => {
  const lines = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((parts) => parts.map((part) => `${part}\n`).join(''))
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = diffTexts(before, after)
      const side = (left: string): string =>
        diff
          .filter(({ kind }) => kind !== left)
          .map(({ text }) => `${text}\n`)
          .join('')
      expect(side('added')).toBe(before)
      expect(side('removed')).toBe(after)
    }),
    cases(80, 10_000),
  )
})

describe('a table', () => {
  const TABLE = '| name | value |\n|---|---:|\n| a | 1 |\n| a `b|c` | 22 |\n'

  test('aligns its columns once its last row is there', () => {
    const fed = feedMarkdown(MARKDOWN_START, TABLE, 40)
    expect(fed.lines).toEqual([])
    expect(feedMarkdown(fed.state, 'Done.\n', 40).lines.map(lineText)).toEqual([
      'name   value',
      '─────  ─────',
      'a          1',
      'a b|c     22',
      'Done.',
    ])
    expect(endMarkdown(fed.state, 40).map(lineText)).toHaveLength(4)
  })

  test('that is too wide wraps inside its cells', () => {
    const text = `| a | what it does |\n|---|---|\n| x | ${'word '.repeat(8)} |`
    expect(markdownLines(text, 24).map(lineText)).toEqual([
      'a  what it does',
      '─  ─────────────────────',
      'x  word word word word',
      '   word word word word',
    ])
  })

  test('rows without a separator below the first are text', () => {
    expect(markdownLines('| a | b |\n| c | d |\nx', 40).map(lineText)).toEqual([
      '| a | b |',
      '| c | d |',
      'x',
    ])
  })
})
