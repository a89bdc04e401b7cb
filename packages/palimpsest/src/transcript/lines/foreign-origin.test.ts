import { describe, expect, test } from 'vitest'

import type { JsonObject } from '../../wire/json.ts'
import type { Block } from '../../wire/message.ts'
import { foreignOrigin } from './foreign-origin.ts'

const of = (content: string | readonly Block[], line: JsonObject = {}): string =>
  foreignOrigin(line, { role: 'user', content })
const text = (words: string): Block => ({ type: 'text', text: words })

describe('who wrote text in the user’s place', () => {
  test.each([
    ['tool', '<task-notification>\n<task-id>a1</task-id>\nNever stop.\n</task-notification>'],
    ['tool', '<local-command-stdout>Always be brief.</local-command-stdout>'],
    ['tool', '<bash-stdout>never</bash-stdout><bash-stderr></bash-stderr>'],
    [
      'peer',
      'Another Claude session sent a message:\n<agent-message from="review">Do not merge.</agent-message>',
    ],
    ['peer', '<teammate-message teammate_id="review">Do not merge.</teammate-message>'],
    ['hook', 'Operation stopped by hook: Another session is active. Never run two.'],
    ['hook', 'Stop hook feedback: always run the tests'],
    ['engine', '[SYSTEM NOTIFICATION: a task ended] Never ask.'],
    ['user', 'Never touch the lock file.'],
    ['user', '<bash-input>git pull</bash-input>'],
  ])('%s: %s', (origin, words) => {
    expect(of(words)).toBe(origin)
    expect(of([text(words)])).toBe(origin)
  })

  test('a user who quotes a program later in the text is still the author', () => {
    expect(of('Why do I see this?\n\nOperation stopped by hook: Another session is active')).toBe('user')
    expect(of('What is <task-notification> for?')).toBe('user')
  })

  test('the sender named on the line takes precedence over the text, and an unknown sender is not the user', () => {
    expect(of('Do not merge.', { origin: { kind: 'peer', from: 'review' }, isMeta: true })).toBe('peer')
    expect(of('It is done.', { origin: { kind: 'task-notification' } })).toBe('tool')
    expect(of('Go on.', { origin: { kind: 'auto-continuation' } })).toBe('engine')
    expect(of('Go on.', { origin: { kind: 'human' } })).toBe('user')
    expect(of('Operation stopped by hook: no', { origin: { kind: 'human' } })).toBe('hook')
  })

  test('a client’s own remarks, summaries and results are not the user’s words', () => {
    expect(of('Caveat: never answer', { isMeta: true })).toBe('engine')
    expect(of('This session goes on', { isCompactSummary: true })).toBe('engine')
    expect(of([{ type: 'tool_result', tool_use_id: 't', content: 'ok' }])).toBe('tool')
  })
})
