import { describe, expect, test } from 'vitest'

import { readSessionText } from './read/read-session.ts'
import { INTERRUPTED_TEXT, reportedPrompt, toReplaySession } from './replay-session.ts'

const AT = '2026-01-01T00:00:'

function line(uuid: string, parentUuid: string | null, second: number, more: object): string {
  return JSON.stringify({
    uuid,
    parentUuid,
    sessionId: 's',
    timestamp: `${AT}${String(second).padStart(2, '0')}.000Z`,
    isSidechain: false,
    ...more,
  })
}

function user(uuid: string, parent: string | null, second: number, content: unknown): string {
  return line(uuid, parent, second, { type: 'user', message: { role: 'user', content } })
}

function answer(uuid: string, parent: string, second: number, id: string, block: object): string {
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 1_000,
    cache_creation_input_tokens: 90,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 90 },
  }
  const message = { id, model: 'claude-opus-4-6', role: 'assistant', content: [block], usage }
  return line(uuid, parent, second, { type: 'assistant', message })
}

const recorded = readSessionText(
  [
    user('u1', null, 1, 'Go.'),
    answer('a1', 'u1', 3, 'm1', { type: 'text', text: 'Reading.' }),
    answer('a2', 'a1', 4, 'm1', { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a.ts' } }),
    // The user spoke before the result came; it never did.
    user('u2', 'a2', 9, 'Stop. Something else.'),
    answer('a3', 'u2', 12, 'm2', { type: 'text', text: 'Fine.' }),
  ].join('\n'),
)

describe('a session ready to be replayed', () => {
  const session = toReplaySession(recorded, 'name')

  test('has one step per response, each with the history before it', () => {
    expect(session.steps.map(({ responseId, from }) => ({ responseId, from }))).toEqual([
      { responseId: 'm1', from: 1 },
      { responseId: 'm2', from: 5 },
    ])
    expect(session.entries.map((entry) => entry.id)).toEqual(['u1', 'a1', 'a2', 'u2', 'interrupted-t1', 'a3'])
  })

  test('answers the calls that the recording left open before the next request', () => {
    expect(session.entries[4]?.message.content).toEqual([
      { type: 'tool_result', tool_use_id: 't1', content: INTERRUPTED_TEXT, is_error: true },
    ])
  })

  test('has the recorded times, sizes and lifetimes', () => {
    const second = Date.parse(`${AT}09.000Z`)
    expect(session.steps[1]).toMatchObject({ requestedAt: second, beganAt: second + 3_000, ttl: '1h' })
    expect(session.steps.map(reportedPrompt)).toEqual([1_100, 1_100])
  })

  test('counts as if recorded with another model if one is given', () => {
    const other = toReplaySession(recorded, 'name', 'claude-sonnet-4-5')
    expect(other.steps.map((step) => step.model)).toEqual(['claude-sonnet-4-5', 'claude-sonnet-4-5'])
    expect(other.entries.find((entry) => entry.id === 'a3')?.model).toBe('claude-sonnet-4-5')
  })
})
