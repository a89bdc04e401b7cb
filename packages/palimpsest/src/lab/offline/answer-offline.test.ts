import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../../test/kit/cases.ts'
import type { WireMessage } from '../../wire/message.ts'
import { answerOffline } from './answer-offline.ts'
import { requestedForm } from './extract/requested-form.ts'
import { pickSentences, splitSentences } from './pick-sentences.ts'
import { summarizeOffline } from './summarize-offline.ts'
import { turnSoFar } from './turn-so-far.ts'

const CONVERSATION: WireMessage[] = [
  { role: 'user', content: 'Never edit src/generated/api.ts by hand. What listens on the port?' },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't', name: 'read', input: { path: 'src/server.ts' } }],
  },
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 't',
        content:
          'The server listens on port 4317.\nError: ENOENT, config/local.json not found.\nIt is warm today.',
      },
    ],
  },
  { role: 'assistant', content: 'The server does. It listens on port 4317.' },
]

function ask(text: string): string {
  const { content } = answerOffline({ messages: [...CONVERSATION, { role: 'user', content: text }] })
  return content.map((block) => block.text).join('')
}

describe('the offline model', () => {
  test('says what it is, and answers with the sentences nearest to the question', () => {
    expect(ask('Which file was not found?')).toBe(
      'I am the offline extractive model: I do not reason or write, I quote what this conversation already says. Nearest to your last message:\n\n' +
        '> Error: ENOENT, config/local.json not found. (tool result, message 3)',
    )
  })

  test('says so when nothing is related', () => {
    expect(ask('Purple elephants?')).toContain('Nothing said so far is related to your last message.')
  })

  test('summarises on request, by quoting: user’s words, files, errors, last answer', () => {
    const summary = ask('Please write a summary of the conversation so far.')
    expect(summary).toMatch(/^<summary>\n[^]*\n<\/summary>$/)
    for (const part of [
      'Never edit src/generated/api.ts by hand.',
      'read src/server.ts',
      'Error: ENOENT',
      'It listens on port 4317.',
    ])
      expect(summary).toContain(part)
  })

  test.each([
    ['Summarize this session.', true],
    ['Create a detailed summary of our conversation', true],
    ['Wrap it in <summary> tags.', true],
    ['What does summary.ts do?', false],
    ['Go on.', false],
  ])('"%s" asks for a summary: %s', (text, expected) => {
    expect(requestedForm(text) === 'summary').toBe(expected)
  })

  test('invents nothing: every quoted sentence occurs in the conversation', () => {
    const sentence = fc.array(fc.constantFrom('red', 'green', 'blue', 'fish', 'port', '4317'), {
      minLength: 1,
      maxLength: 5,
    })
    const text = fc
      .array(sentence, { minLength: 1, maxLength: 4 })
      .map((all) => all.map((words) => words.join(' ')).join('. '))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 10 }), text, (said, question) => {
        const utterances = said.map((words, message) => ({
          role: 'user' as const,
          message,
          kind: 'text' as const,
          text: words,
        }))
        const picked = pickSentences(utterances, question, 3)
        expect(picked.length).toBeLessThanOrEqual(3)
        for (const { text: quote, from } of picked) expect(from.text).toContain(quote)
      }),
      cases(500, 100_000),
    )
  })

  test('uses the requested format if there is one', () => {
    const schema = {
      type: 'object',
      properties: {
        title: { type: 'string' },
        kind: { enum: ['a', 'b'] },
        tags: { type: 'array' },
        deep: { properties: { count: { type: 'integer', minimum: 3 }, on: { type: ['boolean', 'null'] } } },
        unwanted: { type: 'string' },
      },
      required: ['title', 'kind', 'tags', 'deep'],
    }
    const { content } = answerOffline({ messages: [{ role: 'user', content: 'Fix the port.' }], schema })
    expect(JSON.parse(content[0]?.text ?? '')).toEqual({
      title: 'Fix the port.',
      kind: 'a',
      tags: [],
      deep: { count: 3, on: false },
    })
  })

  test('gives the same answer every time', () => {
    expect(ask('Which port?')).toBe(ask('Which port?'))
    expect(summarizeOffline(CONVERSATION)).toBe(summarizeOffline(CONVERSATION))
  })

  test('copes with one endless word', () => {
    const long = 'x'.repeat(200_000)
    expect(summarizeOffline([{ role: 'user', content: long }])).toContain('x'.repeat(1_000))
    expect(splitSentences(long)).toEqual([`${'x'.repeat(400)}…`])
  })
})

test('reads the question before the note on the mode', () => {
  const asked = turnSoFar([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Where is the egret?' },
        { type: 'text', text: '<plan-mode>\nPlan mode is on: nothing changes.\n</plan-mode>' },
      ],
    },
    { role: 'user', content: '<plan-mode-over>\nPlan mode is over.\n</plan-mode-over>' },
  ])
  expect(asked).toMatchObject({ asked: 'Where is the egret?', at: 0 })
})
