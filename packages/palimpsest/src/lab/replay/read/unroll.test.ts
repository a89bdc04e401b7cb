import { expect, test } from 'vitest'

import { readSessionText } from './read-session.ts'
import { unroll } from './unroll.ts'

test('the conversation continues across a compaction: summary, copies, restored files, markers and empty answers are left out', () => {
  const copy = { palimpsest: { origin: 'user', part: 'kept', copyOf: 'u1' } }
  const lines = [
    ['user', 'u1', { message: { role: 'user', content: 'Start' } }],
    ['assistant', 'a1', answer('m1', [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }])],
    ['system', 'c1', { subtype: 'microcompact_boundary', microcompactMetadata: { compactedToolIds: [] } }],
    ['system', 'b1', { subtype: 'compact_boundary', compactMetadata: { trigger: 'auto', preTokens: 5 } }],
    ['user', 's1', { isCompactSummary: true, message: { role: 'user', content: 'So far' } }],
    ['attachment', 'f1', { attachment: { type: 'file', content: 'again' } }],
    ['user', 'k1', { ...copy, message: { role: 'user', content: 'Start' } }],
    ['assistant', 'a2', answer('m2', [])],
    ['user', 'u2', { message: { role: 'user', content: 'Go on' } }],
  ] as const
  const session = readSessionText(
    lines
      .map(([type, uuid, fields], index) =>
        JSON.stringify({ type, uuid, parentUuid: lines[index - 1]?.[1] ?? null, ...fields }),
      )
      .join('\n'),
  )
  const { entries, leftOut, unanswered } = unroll(session)
  expect(entries.map(({ id, parent }) => ({ id, parent }))).toEqual([
    { id: 'u1', parent: null },
    { id: 'a1', parent: 'u1' },
    { id: 'u2', parent: 'a1' },
  ])
  expect(leftOut).toEqual([
    { id: 'c1', why: 'marker' },
    { id: 'b1', why: 'boundary' },
    { id: 's1', why: 'summary' },
    { id: 'f1', why: 'restored' },
    { id: 'k1', why: 'copied' },
    { id: 'a2', why: 'empty' },
  ])
  expect(unanswered).toEqual([{ entry: 'a1', toolUseId: 't1', name: 'Bash' }])
})

function answer(id: string, content: readonly object[]): object {
  return { message: { id, model: 'claude-test-1', role: 'assistant', content } }
}
