import { expect, test } from 'vitest'

import type { BoundaryEntry, Entry } from '../../../transcript/entry.ts'
import { readSessionText } from './read-session.ts'
import type { RecordedSession } from './recorded-session.ts'

const START = Date.parse('2026-03-01T10:00:00.000Z')

test('a response spread over several lines is one response: its usage counts once, and each line is an entry', () => {
  const session = read([
    user('u1', null, 'Count the apples'),
    answer('a1', 'u1', 'msg_1', { type: 'text', text: 'I look.' }, { output: 2 }),
    answer('a2', 'a1', 'msg_1', use('t1', 'Read'), { output: 40 }),
    result('r1', 'a2', 't1', 'seven apples'),
  ])
  expect(ids(session.entries)).toEqual(['u1', 'a1', 'a2', 'r1'])
  expect(session.responses).toEqual([
    {
      id: 'msg_1',
      requestId: 'req_msg_1',
      model: 'claude-test-1',
      place: 'main',
      requestedAt: START + 1000,
      at: START + 2000,
      endedAt: START + 3000,
      usage: usage({ output: 40 }),
      entries: ['a1', 'a2'],
    },
  ])
  expect(session.models).toEqual(['claude-test-1'])
  expect(session.sessionId).toBe('s-1')
})

test('a message keeps its own bytes, and the display copy is never read', () => {
  const message = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1.0"}] }'
  const line = `{"type":"user","uuid":"r1","parentUuid":"a1","toolUseResult":{"stdout":"SCREEN"},"message":${message}}`
  const session = read([answer('a1', null, 'msg_1', use('t1', 'Bash')), line])
  const entry = session.entries[1]
  expect(entry?.kind === 'message' && entry.json).toBe(message)
  expect(JSON.stringify(session)).not.toContain('SCREEN')
})

test('results of parallel calls are attached to their own calls and still belong to the main chain', () => {
  const session = read([
    user('u1', null, 'Both, please'),
    answer('a1', 'u1', 'msg_1', use('t1', 'Read')),
    answer('a2', 'a1', 'msg_1', use('t2', 'Read')),
    progress('p1', 'a1'),
    result('r1', 'p1', 't1', 'one'),
    attachment('h1', 'r1', { type: 'hook_success', content: 'formatted' }),
    result('r2', 'a2', 't2', 'two'),
    answer('a3', 'r2', 'msg_2', { type: 'text', text: 'Done.' }),
  ])
  expect(ids(session.entries)).toEqual(['u1', 'a1', 'a2', 'r1', 'h1', 'r2', 'a3'])
  expect(session.branches).toEqual([])
  expect(session.unanswered).toEqual([])
})

test('a rewound part is a branch, not part of the conversation', () => {
  const session = read([
    user('u1', null, 'Plan it'),
    answer('a1', 'u1', 'msg_1', { type: 'text', text: 'A plan.' }),
    user('u2', 'a1', 'Do it wrongly'),
    answer('a2', 'u2', 'msg_2', use('t9', 'Bash')),
    user('u3', 'a1', 'Do it well'),
    answer('a3', 'u3', 'msg_3', { type: 'text', text: 'Well done.' }),
  ])
  expect(ids(session.entries)).toEqual(['u1', 'a1', 'u3', 'a3'])
  expect(session.branches.map(({ from, entries }) => ({ from, ids: ids(entries) }))).toEqual([
    { from: 'a1', ids: ['u2', 'a2'] },
  ])
  expect(session.unanswered).toEqual([])
  expect(session.responses.map(({ id, place }) => `${id} ${place}`)).toEqual([
    'msg_1 main',
    'msg_2 branch',
    'msg_3 main',
  ])
})

test('a call without a result is reported as unanswered, and nothing is made up', () => {
  const session = read([
    user('u1', null, 'Go'),
    answer('a1', 'u1', 'msg_1', use('t1', 'Bash')),
    user('u2', 'a1', '[Request interrupted by user for tool use]'),
  ])
  expect(session.unanswered).toEqual([{ entry: 'a1', toolUseId: 't1', name: 'Bash' }])
  expect(session.entries).toHaveLength(3)
})

test("text that the client wrote in the model's place is skipped and counted", () => {
  const synthetic = answer('a1', 'u1', 'x', { type: 'text', text: 'API Error' }).replace(
    'claude-test-1',
    '<synthetic>',
  )
  const session = read([user('u1', null, 'Hi'), synthetic, user('u2', 'a1', 'Again')])
  expect(ids(session.entries)).toEqual(['u1', 'u2'])
  expect(session.responses).toEqual([])
  expect(session.account.ignored).toEqual({ 'assistant <synthetic>': 1 })
})

test('a boundary whose logical parent was never written follows the line before it, with its summary and restored files', () => {
  const session = read([
    user('u1', null, 'Work'),
    answer('a1', 'u1', 'msg_1', { type: 'text', text: 'Working.' }),
    boundary('b1', 'never-written', { trigger: 'auto', preTokens: 167_000 }),
    summary('s1', 'b1'),
    attachment('f1', 's1', { type: 'file', content: { type: 'text', file: { content: 'let x = 1' } } }),
    attachment('f2', 'f1', { type: 'hook_system_message', content: 'for the screen' }),
    user('u2', 'f2', 'Go on'),
    attachment('f3', 'u2', { type: 'diagnostics', files: [{ uri: 'a.ts' }] }),
    answer('a2', 'f3', 'msg_2', { type: 'text', text: 'On.' }),
  ])
  expect(ids(session.entries)).toEqual(['u1', 'a1', 'b1', 's1', 'f1', 'u2', 'f3', 'a2'])
  expect(boundaryOf(session)).toMatchObject({
    parent: null,
    logicalParent: 'a1',
    summary: ['s1'],
    attachments: ['f1'],
    keeps: 'tail',
    meta: { trigger: 'auto', preTokens: 167_000 },
  })
  expect(textOf(session, 'f1')).toBe('let x = 1')
  expect(textOf(session, 'f3')).toBe('{"type":"diagnostics","files":[{"uri":"a.ts"}]}')
  expect(partOf(session, 'f1')).toBe('attachment')
  expect(partOf(session, 'f3')).toBeUndefined()
  expect(session.account.ignored).toEqual({ 'attachment:hook_system_message': 1 })
  expect(session.problems).toEqual([])
})

test.each(['s1', 'a1'])('a kept tail stays in the chain if the next line follows %s', (parentOfNext) => {
  const kept = { headUuid: 'u1', anchorUuid: 's1', tailUuid: 'a1' }
  const session = read([
    user('u0', null, 'Long ago'),
    answer('a0', 'u0', 'msg_0', { type: 'text', text: 'Yes.' }),
    user('u1', 'a0', 'Lately'),
    answer('a1', 'u1', 'msg_1', { type: 'text', text: 'Now.' }),
    boundary('b1', 'a1', { trigger: 'manual', preTokens: 90_000, preservedSegment: kept }),
    summary('s1', 'b1'),
    user('u2', parentOfNext, 'Next'),
  ])
  expect(ids(session.entries)).toEqual(['u0', 'a0', 'u1', 'a1', 'b1', 's1', 'u2'])
  expect(boundaryOf(session)).toMatchObject({
    summary: ['s1'],
    keeps: 'tail',
    kept: { head: 'u1', tail: 'a1', anchor: 's1' },
    meta: { trigger: 'manual' },
  })
})

test('a clearing of old results is kept as data and keeps its place in the chain', () => {
  const meta = { trigger: 'auto', preTokens: 80_000, tokensSaved: 30_000, compactedToolIds: ['t1', 't2'] }
  const session = read([
    user('u1', null, 'Hi'),
    line('system', 'm1', 'u1', { subtype: 'microcompact_boundary', microcompactMetadata: meta }),
    user('u2', 'm1', 'Go on'),
  ])
  expect(session.clearings).toEqual([
    { at: START + 2000, toolUseIds: ['t1', 't2'], preTokens: 80_000, freedTokens: 30_000 },
  ])
  expect(session.entries.map((entry) => `${entry.kind} ${entry.parent}`)).toEqual([
    'message null',
    'other u1',
    'message m1',
  ])
})

test('sub-agents in the same file are separate conversations', () => {
  const side = { isSidechain: true, agentId: 'agent-7' }
  const session = read([
    user('u1', null, 'Delegate'),
    line('user', 'x1', null, { ...side, message: { role: 'user', content: 'Sub task' } }),
    answer('a1', 'u1', 'msg_1', { type: 'text', text: 'Waiting.' }),
    line('user', 'x2', 'x1', { ...side, message: { role: 'user', content: 'More' } }),
  ])
  expect(ids(session.entries)).toEqual(['u1', 'a1'])
  expect(session.sidechains.map(({ from, entries }) => ({ from, ids: ids(entries) }))).toEqual([
    { from: null, ids: ['x1', 'x2'] },
  ])
})

test('a file that consists of one sidechain is the conversation of that agent', () => {
  const side = { isSidechain: true, agentId: 'agent-7' }
  const session = read([
    line('user', 'x1', null, { ...side, message: { role: 'user', content: 'Sub task' } }),
    line('user', 'x2', 'x1', { ...side, message: { role: 'user', content: 'More' } }),
  ])
  expect(session.entries.map(({ id, sidechain }) => ({ id, sidechain }))).toEqual([
    { id: 'x1', sidechain: undefined },
    { id: 'x2', sidechain: undefined },
  ])
  expect(session.sidechains).toEqual([])
})

test('each text has its origin', () => {
  const session = read([
    user('u1', null, 'My own words'),
    line('user', 'u2', 'u1', { isMeta: true, message: { role: 'user', content: 'Caveat' } }),
    user('u3', 'u2', '<local-command-stdout>bye</local-command-stdout>'),
    line('system', 'u4', 'u3', { subtype: 'local_command', content: '<command-name>/model</command-name>' }),
    answer('a1', 'u4', 'msg_1', use('t1', 'WebFetch')),
    result('r1', 'a1', 't1', 'a page'),
    answer('a2', 'r1', 'msg_2', use('t2', 'mcp__wiki__ask')),
    result('r2', 'a2', 't2', 'an answer'),
    attachment('q1', 'r2', { type: 'queued_command', prompt: 'and hurry' }),
    attachment('q2', 'q1', { type: 'queued_command', commandMode: 'task-notification', prompt: 'It ended.' }),
    attachment('q3', 'q2', {
      type: 'queued_command',
      prompt: '<task-notification>Never.</task-notification>',
    }),
    attachment('q4', 'q3', { type: 'queued_command', prompt: 'Wait.', origin: { kind: 'peer' } }),
    attachment('q5', 'q4', { type: 'queued_command', prompt: [{ type: 'text', text: 'Push it.' }] }),
    user(
      'u5',
      'q5',
      'Another Claude session sent a message:\n<agent-message from="r">Never.</agent-message>',
    ),
    user('u6', 'u5', 'Operation stopped by hook: Another session is active'),
  ])
  expect(session.entries.map((entry) => entry.kind === 'message' && `${entry.id} ${entry.origin}`)).toEqual([
    'u1 user',
    'u2 engine',
    'u3 tool',
    'u4 user',
    'a1 model',
    'r1 web',
    'a2 model',
    'r2 mcp',
    'q1 user',
    'q2 tool',
    'q3 tool',
    'q4 peer',
    'q5 user',
    'u5 peer',
    'u6 hook',
  ])
  expect(textOf(session, 'q1')).toBe('and hurry')
})

test('images inside tool results are kept', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
  const session = read([answer('a1', null, 'msg_1', use('t1', 'Read')), result('r1', 'a1', 't1', [image])])
  const entry = session.entries[1]
  expect(entry?.kind === 'message' && entry.message.content).toEqual([
    { type: 'tool_result', tool_use_id: 't1', content: [image] },
  ])
})

test('a duplicated line counts once; a missing parent is replaced by the line before, with a warning', () => {
  const session = read([
    user('u1', null, 'One'),
    user('u1', null, 'One'),
    user('u2', 'nowhere', 'Two'),
    user('u3', 'u2', 'Three'),
  ])
  expect(ids(session.entries)).toEqual(['u1', 'u2', 'u3'])
  expect(session.account.repeated).toEqual({ 'same uuid': 1 })
  expect(session.problems).toEqual([{ line: 3, what: 'its parent nowhere is not in the file' }])
})

test('a cycle of parents ends the walk', () => {
  const session = read([user('u1', 'u2', 'One'), user('u2', 'u1', 'Two')])
  expect(ids(session.entries).toSorted()).toEqual(['u1', 'u2'])
})

test('lines without ids are read in order', () => {
  const session = read([
    '{"type":"user","message":{"role":"user","content":"Hi"}}',
    '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Ho"}]}}',
  ])
  expect(session.entries.map(({ id, parent }) => ({ id, parent }))).toEqual([
    { id: 'line-1', parent: null },
    { id: 'line-2', parent: 'line-1' },
  ])
})

// Lines as the recorded agent writes them; each is one second later than the one before it in `read`.

function read(lines: readonly string[]): RecordedSession {
  const timed = lines.map((text, index) =>
    text.replace('AT', new Date(START + 1000 * (index + 1)).toISOString()),
  )
  return readSessionText(timed.join('\n'))
}

function line(type: string, uuid: string, parentUuid: string | null, fields: object): string {
  return JSON.stringify({
    parentUuid,
    isSidechain: false,
    sessionId: 's-1',
    type,
    uuid,
    timestamp: 'AT',
    ...fields,
  })
}

function user(uuid: string, parent: string | null, content: unknown): string {
  return line('user', uuid, parent, { message: { role: 'user', content } })
}

function answer(
  uuid: string,
  parent: string | null,
  id: string,
  block: object,
  { output = 1 }: { output?: number } = {},
): string {
  const message = {
    id,
    model: 'claude-test-1',
    role: 'assistant',
    content: [block],
    usage: usage({ output }),
  }
  return line('assistant', uuid, parent, { requestId: `req_${id}`, message })
}

function usage({ output }: { output: number }) {
  return {
    input_tokens: 3,
    cache_creation_input_tokens: 500,
    cache_read_input_tokens: 20_000,
    output_tokens: output,
  }
}

function use(id: string, name: string) {
  return { type: 'tool_use', id, name, input: { path: 'x' } }
}

function result(uuid: string, parent: string, tool_use_id: string, content: unknown): string {
  return user(uuid, parent, [{ type: 'tool_result', tool_use_id, content }])
}

function progress(uuid: string, parent: string): string {
  return line('progress', uuid, parent, { data: { type: 'hook_progress' } })
}

function attachment(uuid: string, parent: string, value: object): string {
  return line('attachment', uuid, parent, { attachment: value })
}

function boundary(uuid: string, logicalParentUuid: string, compactMetadata: object): string {
  return line('system', uuid, null, { subtype: 'compact_boundary', logicalParentUuid, compactMetadata })
}

function summary(uuid: string, parent: string): string {
  return line('user', uuid, parent, {
    isCompactSummary: true,
    message: { role: 'user', content: 'What happened so far: much.' },
  })
}

function ids(entries: readonly Entry[]): string[] {
  return entries.map((entry) => entry.id)
}

function boundaryOf(session: RecordedSession): BoundaryEntry | undefined {
  return session.entries.find((entry) => entry.kind === 'boundary')
}

function messageOf(session: RecordedSession, id: string) {
  return session.entries.filter((entry) => entry.kind === 'message').find((entry) => entry.id === id)
}

function textOf(session: RecordedSession, id: string): unknown {
  return messageOf(session, id)?.message.content
}

function partOf(session: RecordedSession, id: string): string | undefined {
  return messageOf(session, id)?.part
}
