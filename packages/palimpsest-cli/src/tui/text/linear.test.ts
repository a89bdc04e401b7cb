import { afterAll, expect, test } from 'vitest'

import { openStepCounter } from '../../../../../test/kit/count-steps.ts'
import {
  endMarkdown,
  feedMarkdown,
  MARKDOWN_START,
  markdownLines,
  PIECE_CHARS_MAX,
} from './markdown-lines.ts'

// The work of drawing grows with the text and not faster, whatever the text is made of. Counted in steps of the code, without a clock;
// what regular expressions do is judged by `test/regexes.test.ts`.

const COLUMNS = 80
/** Longer than a piece. */
const CHARS = process.env['SOAK'] ? 20_000 : 4_500
/** The most expensive text takes 60. Work that grew with the square would take as many as there are characters, and with that of a piece 4,000. */
const STEPS_PER_CHAR_MAX = 100

const counter = openStepCounter('tui/text/')
afterAll(() => counter.close())

const repeated = (part: string) => (chars: number) =>
  part.repeat(Math.ceil(chars / part.length)).slice(0, chars)

const HOSTILE: readonly (readonly [string, (chars: number) => string])[] = [
  ...[
    '[',
    '![',
    '[a](',
    '[a](b ',
    '[a]',
    '](',
    '*',
    '**',
    '*a',
    ' *a',
    '**a ',
    '_a ',
    '__a',
    '`',
    '`a',
    '``a`',
  ],
  ...[
    '> ',
    '>',
    '- ',
    '  - ',
    '1. ',
    '# ',
    '#',
    '|a',
    '| - ',
    '<a ',
    '<!--',
    '&amp;',
    '&#',
    '\\',
    '~',
    '- [ ] ',
  ],
  ...[
    '- x\n',
    '> x\n',
    '# x #\n',
    '```\n',
    '~~~ts\n',
    '|a|b|\n',
    '\n',
    '  \n',
    '\r\n',
    '宽',
    '👩‍👩‍👧',
    'e\u0301',
    '\t',
    '\u2028',
    '\x1b[',
  ],
].map((part) => [JSON.stringify(part), repeated(part)] as const)

const NESTED: typeof HOSTILE = [
  ['brackets within brackets', (chars) => '['.repeat(chars / 2) + ']'.repeat(chars / 2)],
  ['links within links', (chars) => '[a'.repeat(chars / 4) + '](b)'.repeat(chars / 8)],
  ['ever longer runs of backticks', (chars) => rising(chars)],
  ['lists within lists', (chars) => deeper(chars, '- x')],
  ['quotes within quotes', (chars) => quoted(chars)],
  ['a heading of spaces', (chars) => `# ${' '.repeat(chars)}x`],
  ['a heading of signs', (chars) => `# ${'# '.repeat(chars / 2)}x`],
  ['spaces before an item', (chars) => `${' '.repeat(chars)}- x`],
  ['code without a line end', (chars) => `\`\`\`ts\n${'"a'.repeat(chars / 2)}`],
]

test('every text costs a few steps a character', () => {
  const texts = [...HOSTILE, ...NESTED].map(([name, textOf]) => ({ name, text: textOf(CHARS) }))
  const groups = Array.from({ length: Math.ceil(texts.length / TOGETHER) }, (_, i) =>
    texts.slice(i * TOGETHER, (i + 1) * TOGETHER),
  )
  expect(groups.flatMap(dearIn)).toEqual([])
})

/** Most take a tenth of the bound. */
const TOGETHER = 5

interface Named {
  readonly name: string
  readonly text: string
}

/** To count takes longer than to draw: what many take together, each of them takes at most. */
function dearIn(texts: readonly Named[]): readonly string[] {
  const steps = counter.count(() => {
    for (const { text } of texts) markdownLines(text, COLUMNS)
  })
  const shortest = Math.min(...texts.map(({ text }) => text.length))
  if (steps / shortest < STEPS_PER_CHAR_MAX) return []
  if (texts.length === 1) return texts.map(({ name }) => `${name}: ${steps / shortest} steps a character`)
  const half = Math.ceil(texts.length / 2)
  return [...dearIn(texts.slice(0, half)), ...dearIn(texts.slice(half))]
}

test('a line that arrives letter by letter costs no more the longer it is, and neither does its end on the screen', () => {
  const steps = counter.count(() => {
    let state = MARKDOWN_START
    for (let at = 0; at < CHARS; at++) {
      state = feedMarkdown(state, '[', COLUMNS).state
      // A frame is drawn now and then.
      if (at % FRAME_CHARS === 0) endMarkdown(state, COLUMNS)
    }
  })
  expect(steps / CHARS).toBeLessThan(STEPS_PER_CHAR_MAX * (1 + PIECE_CHARS_MAX / FRAME_CHARS))
})

const FRAME_CHARS = 500

function rising(chars: number): string {
  let text = ''
  for (let length = 1; text.length < chars; length++) text += `${'`'.repeat(length)}a`
  return text.slice(0, chars)
}

function deeper(chars: number, item: string): string {
  let text = ''
  for (let depth = 0; text.length < chars; depth++) text += `${' '.repeat(depth)}${item}\n`
  return text.slice(0, chars)
}

function quoted(chars: number): string {
  let text = ''
  for (let depth = 1; text.length < chars; depth++) text += `${'>'.repeat(depth)} x\n`
  return text.slice(0, chars)
}
