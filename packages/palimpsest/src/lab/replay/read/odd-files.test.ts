import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import { claudeCodeSession } from '../../../../../../test/kit/claude-code-session.ts'
import { readSessionText } from './read-session.ts'
import type { RecordedSession } from './recorded-session.ts'

// Files that interrupted writers leave. Nothing that is whole may be lost, and each oddity is told.

const time = (second: number): string => new Date(Date.UTC(2026, 2, 1, 10, 0, second)).toISOString()

const item = (second: number, payload: object): object => ({
  timestamp: time(second),
  type: 'response_item',
  payload,
})
const said = (role: string, text: string): object => ({ type: 'message', role, content: [{ text }] })

const CODEX: readonly object[] = [
  { timestamp: time(0), type: 'session_meta', payload: { id: 'c' } },
  item(1, said('user', 'Look around.')),
  item(2, { type: 'function_call', name: 'shell', arguments: '{"command":"ls"}', call_id: 'call_1' }),
  item(3, { type: 'function_call_output', call_id: 'call_1', output: 'a.ts {"b":1}' }),
  item(4, said('assistant', 'There is a.ts.')),
]
const message = (second: number, body: object): object => ({
  type: 'message',
  timestamp: time(second),
  message: body,
})
const PI: readonly object[] = [
  { type: 'session', id: 'p', timestamp: time(0) },
  message(1, { role: 'user', content: 'Look around.' }),
  message(2, {
    role: 'assistant',
    content: [{ type: 'toolCall', id: 't1', name: 'ls', arguments: {} }],
  }),
  message(3, { role: 'toolResult', toolCallId: 't1', content: [{ type: 'text', text: 'a.ts' }] }),
  message(4, { role: 'assistant', content: [{ type: 'text', text: 'There is a.ts.' }] }),
]
const FORMATS = {
  'claude-code': claudeCodeSession(2).trimEnd().split('\n'),
  codex: CODEX.map((line) => JSON.stringify(line)),
  pi: PI.map((line) => JSON.stringify(line)),
}

const TORN = ['{', '{"type":"message","timestamp":"2026', '{"timestamp":"x","type":"response_item","pay']
const border = fc.oneof(
  { weight: 3, arbitrary: fc.constant('\n') },
  fc.constantFrom('', ' ', '\u0000', ...TORN),
)

const contentOf = ({ entries }: RecordedSession): readonly unknown[] =>
  entries.map((entry) => (entry.kind === 'message' ? [entry.origin, entry.json] : entry.kind))

describe.each(Object.entries(FORMATS))('%s', (format, lines) => {
  const clean = readSessionText(lines.join('\n'))

  test('is read completely even if its lines are joined or torn, with a warning for each odd line', () => {
    const most = lines.length - 1
    fc.assert(
      fc.property(fc.array(border, { minLength: most, maxLength: most }), (borders) => {
        const text = lines.map((line, i) => line + (borders[i] ?? '\n')).join('')
        const session = readSessionText(text)
        expect(session.format).toBe(format)
        expect(contentOf(session)).toEqual(contentOf(clean))
        const odd = text
          .split('\n')
          .flatMap((line, i) => (line === '' || lines.includes(line) ? [] : [i + 1]))
        expect(session.problems.map((problem) => problem.line)).toEqual(odd)
        expect(session.account).toMatchObject({ reported: 0, used: clean.account.used })
      }),
      cases(60, 5_000),
    )
  })

  test('a tool use whose line was never written is a warning, and its result stays', () => {
    const at = lines.findIndex((line) => /tool_use|function_call"|toolCall"/.test(line))
    const session = readSessionText(lines.toSpliced(at, 1).join('\n'))
    expect(session.problems.at(-1)?.what).toMatch(
      /^a result for \w+, whose tool use was never written: it is kept, and not sent$/,
    )
    expect(contentOf(session)).toEqual(contentOf(clean).toSpliced(clean.entries.findIndex(isCall), 1))
  })

  test('a complete round that was never written is a warning', () => {
    const at = lines.findIndex((line) => /tool_use|function_call"|toolCall"/.test(line))
    const before = lines[at] ?? ''
    const spoken = before.replace(/"content":\[.*?\]/, '"content":[{"type":"text","text":"I look."}]')
    const isCodex = format === 'codex'
    const first = isCodex ? JSON.stringify(item(2, said('assistant', 'I look.'))) : spoken
    const counted = isCodex ? [JSON.stringify(COUNT)] : []
    const rest = lines.slice(at + 2).map((line) => line.replace(/"parentUuid":"u2"/, '"parentUuid":"u1"'))
    const session = readSessionText([...lines.slice(0, at), first, ...counted, ...rest].join('\n'))
    expect(session.problems.map(({ what }) => what)).toEqual([
      'an answer right after another: what stood between them, such as a tool use and its result, was never written',
    ])
    expect(session.entries.filter(({ kind }) => kind === 'message').length).toBe(clean.entries.length - 1)
  })
})

const COUNT = {
  timestamp: time(2),
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: {
      last_token_usage: { input_tokens: 5, output_tokens: 2 },
      total_token_usage: { input_tokens: 5, output_tokens: 2 },
    },
  },
}

function isCall({ kind }: RecordedSession['entries'][number], index: number): boolean {
  return kind === 'message' && index === 1
}

describe('opencode', () => {
  const messages = Array.from({ length: 4 }, (_, i) => ({
    info: { id: `msg_${i}`, role: i % 2 === 0 ? 'user' : 'assistant' },
    parts: [{ type: 'text', text: `Word ${i}` }],
  }))
  const whole = JSON.stringify({ info: { id: 'o' }, messages })

  test('a truncated export yields all its complete messages, wherever it is cut', () => {
    const ends = messages.map((_, i) => whole.indexOf(`Word ${i}"}]}`) + `Word ${i}"}]}`.length)
    const firstEnd = ends[0] ?? 0
    fc.assert(
      fc.property(fc.integer({ min: firstEnd, max: whole.length - 1 }), (cut) => {
        const session = readSessionText(whole.slice(0, cut))
        expect(session.sessionId).toBe('o')
        expect(session.entries).toHaveLength(ends.filter((end) => end <= cut).length)
        expect(session.problems[0]?.what).toMatch(/^the export is cut short: \d messages? (was|were) read, /)
      }),
      cases(40, 2_000),
    )
  })

  test('two exports on one line are both read, and duplicates are counted once', () => {
    const longer = JSON.stringify({
      info: { id: 'o' },
      messages: [
        ...messages,
        { info: { id: 'msg_9', role: 'user' }, parts: [{ type: 'text', text: 'More' }] },
      ],
    })
    const session = readSessionText(whole + longer)
    expect(session.entries).toHaveLength(5)
    expect(session.account.repeated).toEqual({ 'same message id': 4 })
    expect(session.problems).toEqual([
      { line: 0, what: 'the file is no single export: both JSON documents on it were read' },
    ])
  })
})
