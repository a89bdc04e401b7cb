import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import { LINE_CHARS_MAX } from './lines.ts'
import { createSessionReader, readSession, readSessionText } from './read-session.ts'
import type { RecordedSession } from './recorded-session.ts'

const CLAUDE_CODE = [
  '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Hello"}}',
  '{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Hi"}]}}',
]
const CODEX = [
  '{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"c"}}',
  '{"timestamp":"2026-03-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}',
]
const PI = [
  '{"type":"session","id":"p","timestamp":"2026-03-01T10:00:00Z"}',
  '{"type":"message","timestamp":"2026-03-01T10:00:01Z","message":{"role":"user","content":"Hello"}}',
]
const OPENCODE = [
  '{"info":{"id":"o"},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"Hello"}]}]}',
]

const FORMATS = { 'claude-code': CLAUDE_CODE, codex: CODEX, pi: PI, opencode: OPENCODE }

test.each(Object.entries(FORMATS))('%s is recognised by its first lines', (format, lines) => {
  expect(readSessionText(lines.join('\n'))).toMatchObject({ format, problems: [] })
  expect(readSessionText(lines.join('\n')).entries).not.toEqual([])
})

test('the first lines may say nothing about the format', () => {
  const head = [
    '{"type":"file-history-snapshot","messageId":"x"}',
    '{"type":"summary","summary":"t","leafUuid":"l"}',
  ]
  expect(readSessionText([...head, ...CLAUDE_CODE].join('\n')).format).toBe('claude-code')
  expect(readSessionText(JSON.stringify(JSON.parse(OPENCODE[0] ?? ''), null, 2)).format).toBe('opencode')
})

test('an empty file, blank lines, text and binary data are reported clearly', () => {
  expect(readSessionText('').problems).toEqual([{ line: 0, what: 'the file is empty' }])
  expect(readSessionText('\n\n \n')).toMatchObject({ format: 'unknown', account: { total: 3, blank: 3 } })
  const unknown = [
    {
      line: 0,
      what: 'not a recorded session: none of its first lines is one of Claude Code, Codex, pi or an opencode export',
    },
  ]
  expect(readSessionText('# A readme\n\nwith text\n').problems).toEqual(unknown)
  expect(readSessionText('\u0000\uFFFD\u0007PNG\n\u0000'.repeat(500)).problems).toEqual(unknown)
  expect(readSessionText('[1,2,3]\n"text"\n17\nnull\n').problems).toEqual(unknown)
  expect(readSessionText('{"some":"json"}').problems).toEqual(unknown)
})

test.each(Object.entries(FORMATS).filter(([format]) => format !== 'opencode'))(
  'torn, binary and foreign lines of a %s file are reported by number, and the others are read',
  (_format, lines) => {
    const [first = '', second = ''] = lines
    const session = readSessionText(
      [first, '\u0000\u0000\u0000', '[]', second, second.slice(0, 40)].join('\n'),
    )
    expect(session.problems.map((problem) => problem.line)).toEqual([2, 3, 5])
    expect(session.account).toMatchObject({ total: 5, reported: 3 })
    expect(session.entries.length).toBeGreaterThan(0)
  },
)

test('reading stops once nothing more can be recognised', async () => {
  let asked = 0
  async function* endless() {
    for (;;) {
      asked++
      yield 'no session here\n'
    }
  }
  const session = await readSession(endless())
  expect(session.format).toBe('unknown')
  expect(asked).toBe(50)
})

test('a huge line is reported and skipped, and the rest is read', () => {
  const huge = `{"type":"user","uuid":"h","parentUuid":"a1","message":{"role":"user","content":"${'x'.repeat(LINE_CHARS_MAX)}"}}`
  const session = readSessionText([...CLAUDE_CODE, huge].join('\n'))
  expect(session.entries.map((entry) => entry.id)).toEqual(['u1', 'a1'])
  expect(session.problems).toEqual([{ line: 3, what: `longer than ${LINE_CHARS_MAX} characters; left out` }])
  expectBalanced(session)
})

test('every record is accounted for, whatever part of a file is damaged and however it is cut into chunks', () => {
  const texts = Object.values(FORMATS).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.nat({ max: 400 }),
      fc.nat({ max: 30 }),
      fc.constantFrom('', '\n', '{', '"', '\u0000', '}]', '[[[[', '\\'),
      fc.integer({ min: 1, max: 50 }),
      (text, at, length, damage, chunkChars) => {
        const damaged = text.slice(0, at) + damage + text.slice(at + length)
        const session = readSessionText(damaged)
        expectBalanced(session)
        const reader = createSessionReader()
        for (let from = 0; from < damaged.length; from += chunkChars)
          reader.push(damaged.slice(from, from + chunkChars))
        expect(reader.end()).toEqual(session)
      },
    ),
    cases(500, 100_000),
  )
})

test('chunks yield the same session as the whole text', async () => {
  for (const lines of Object.values(FORMATS)) {
    const text = `${lines.join('\n')}\n`
    expect(await readSession(text.split(/(?=.)/s))).toEqual(readSessionText(text))
  }
})

function expectBalanced({ account }: RecordedSession): void {
  const sum = (kinds: { readonly [kind: string]: number }): number =>
    Object.values(kinds).reduce((total, n) => total + n, 0)
  expect(account.blank + account.used + account.reported + sum(account.repeated) + sum(account.ignored)).toBe(
    account.total,
  )
}
