import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../cases.ts'
import { splitSentences } from './split-sentences.ts'

describe('a sentence ends', () => {
  test('after a full stop and a space, even before a small letter', () => {
    expect(splitSentences('Looks good. now run it! Did it pass?')).toEqual([
      'Looks good.',
      'now run it!',
      'Did it pass?',
    ])
  })

  test('after a full-width stop without a space', () => {
    expect(splitSentences('先跑测试。不要提交！好吗？')).toEqual(['先跑测试。', '不要提交！', '好吗？'])
  })

  test('at a line break, because people leave out the full stop there', () => {
    expect(splitSentences('do not touch the lock file\nrun the linter\n\nthanks')).toEqual([
      'do not touch the lock file',
      'run the linter',
      'thanks',
    ])
  })

  test('with its closing quote or bracket', () => {
    expect(splitSentences('It says "Done." Then it stops. (Always.) Odd.')).toEqual([
      'It says "Done."',
      'Then it stops.',
      '(Always.)',
      'Odd.',
    ])
  })
})

describe('a sentence continues', () => {
  test.each([
    'Use a small window, e.g. 36,000 tokens, etc. and so on.',
    'Version 2.1.3 is in main.ts already.',
    'Wait... maybe not.',
    'Open it on the 3. of May.',
    'Ask the owner (is it Ann?) and go on.',
    'Remove the old files (all three, right? nothing else), then push.',
    'Run `a. B! C?` once.',
    '**1. Names are wrong.**',
    'z.B. die Tests laufen lassen',
  ])('in %j', (text) => {
    expect(splitSentences(text)).toEqual([text])
  })

  test('in a paragraph that is wrapped at a fixed width', () => {
    const wrapped =
      'The parser reads the file in chunks and keeps the last one back until\nthe next has come. Nothing is lost on the way, however large the file\nmay be.'
    expect(splitSentences(wrapped)).toEqual([
      'The parser reads the file in chunks and keeps the last one back until the next has come.',
      'Nothing is lost on the way, however large the file may be.',
    ])
  })
})

describe('Markdown', () => {
  test('list items, headings and table rows are separate sentences, without their markers', () => {
    const text =
      '# Rules\n- never push. ask first\n  more of it\n* [ ] tests\n1. one\n2) two\n> quoted\n| a | b |\n| c | d |\nend'
    expect(splitSentences(text)).toEqual([
      'Rules',
      'never push.',
      'ask first',
      'more of it',
      'tests',
      'one',
      'two',
      'quoted',
      '| a | b |',
      '| c | d |',
      'end',
    ])
  })

  test('a code block is one sentence, closed or not', () => {
    const block = '```ts\n// never. always!\n\nrun()\n```'
    expect(splitSentences(`Look:\n${block}\nDo not run it.`)).toEqual(['Look:', block, 'Do not run it.'])
    expect(splitSentences('~~~\na. b. c')).toEqual(['~~~\na. b. c'])
    expect(splitSentences('````\n```\na. b\n```\n````\nc')).toEqual(['````\n```\na. b\n```\n````', 'c'])
  })
})

test('text without letters belongs to the sentence before it', () => {
  expect(splitSentences('Nice! 🎉\n---\nNext.')).toEqual(['Nice! 🎉 ---', 'Next.'])
  expect(splitSentences('---\n!!!')).toEqual([])
})

test('white space does not matter', () => {
  expect(splitSentences('  Run   it.\r\nThen\tstop.  ')).toEqual(['Run it.', 'Then stop.'])
})

test('only markers and white space are lost, in any text', () => {
  const piece = fc.constantFrom(
    'a', 'B', '7', ' ', '\n', '.', '!', '?', '…', '。', '`', '```', '~~~', '(', ')', '- ', '1. ', '# ', '> ', '| ', 'e.g.', '\r\n', '界',
  ) // prettier-ignore
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      const sentences = splitSentences(text)
      expect(lettersIn(sentences.join(' '))).toBe(lettersIn(text))
      for (const sentence of sentences) expect(sentence).toBe(sentence.trim())
    }),
    cases(500, 100_000),
  )
})

/** Digits may be the number of a list item. */
function lettersIn(text: string): string {
  return text.replaceAll(/[^\p{L}]/gu, '')
}
