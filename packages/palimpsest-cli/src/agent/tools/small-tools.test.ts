import { afterEach, describe, expect, test } from 'vitest'

import { createWorkbench, textOf, type Workbench } from '../../../../../test/kit/workbench.ts'
import type { Question } from './ask-user-tool.ts'

let bench: Workbench
afterEach(() => bench.dispose())

describe('TodoWrite', () => {
  test('shows the list it was given', async () => {
    bench = await createWorkbench()
    const todos = [
      { content: 'Read', status: 'completed', activeForm: 'Reading' },
      { content: 'Write', status: 'in_progress', activeForm: 'Writing' },
      { content: 'Test', status: 'pending' },
    ]
    expect(await bench.call('TodoWrite', { todos })).toEqual({
      content: 'The list is now:\n1. [x] Read\n2. [>] Write\n3. [ ] Test',
    })
    expect(textOf(await bench.call('TodoWrite', { todos: [] }))).toBe('The list is empty.')
  })

  test.each([
    [{ todos: 'x' }, /"todos" must be a list, not a string/],
    [{ todos: ['x'] }, /number 1 is a string/],
    [
      { todos: [{ content: 'a', status: 'done' }] },
      /The status of "a" must be one of pending, in_progress, completed/,
    ],
    [{ todos: [{ status: 'pending' }] }, /lacks "content"/],
    [{ todos: Array.from({ length: 101 }, () => ({ content: 'a', status: 'pending' })) }, /at most 100/],
  ])('refuses %j', async (input, expected) => {
    bench = await createWorkbench()
    expect(textOf(await bench.call('TodoWrite', input))).toMatch(expected)
  })
})

describe('AskUser', () => {
  const input = {
    question: 'Which?',
    options: [{ label: 'A', description: 'first' }, { label: 'B' }],
    multi_select: true,
  }

  test('passes the question on and returns the user’s words as the user’s', async () => {
    const asked: Question[] = []
    bench = await createWorkbench({ askUser: async (question) => (asked.push(question), 'B, because') })
    expect(await bench.call('AskUser', input)).toEqual({ content: 'B, because', origin: 'user' })
    expect(asked).toEqual([
      {
        question: 'Which?',
        options: [{ label: 'A', description: 'first' }, { label: 'B' }],
        allowsSeveral: true,
      },
    ])
  })

  test('without a user, says so and how to continue', async () => {
    bench = await createWorkbench()
    const output = await bench.call('AskUser', input)
    expect([output.isError, textOf(output)]).toEqual([
      true,
      'Nobody is there to answer: the program runs without a user. Decide yourself, say what you assumed, and go on.',
    ])
  })

  test('reports that no answer was given', async () => {
    bench = await createWorkbench({ askUser: async () => undefined })
    expect(textOf(await bench.call('AskUser', { question: 'Well?' }))).toMatch(/gave no answer/)
  })
})
