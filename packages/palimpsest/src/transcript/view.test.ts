import { expect, test } from 'vitest'
import type { EditEntry, Entry, MessageEntry } from './entry.ts'
import { settle } from './settle.ts'
import { viewOf, step, type View } from './view.ts'
import type { Block, WireMessage } from '../wire/message.ts'

const policy = { model: 'm', bindsPrefix: true, readsFrom: [] }

test('(V1) results of parallel calls are in one message after the answer, even if the log interleaves them', () => {
  const view = viewOf([
    said('u', 'go'),
    answer('a1', 'r1', [use('t1')]),
    result('x1', 't1', 'one'),
    answer('a2', 'r1', [use('t2')]),
    result('x2', 't2', 'two'),
  ])
  expect(sent(view)).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', content: [use('t1'), use('t2')] },
    { role: 'user', content: [resultBlock('t1', 'one'), resultBlock('t2', 'two')] },
  ])
})

test('(V1) a result that comes after a user text is moved before it', () => {
  const view = viewOf([
    said('u', 'go'),
    answer('a', 'r', [use('t')]),
    said('v', 'stop'),
    result('x', 't', 'late'),
  ])
  expect(sent(view).slice(2)).toEqual([
    { role: 'user', content: [resultBlock('t', 'late')] },
    { role: 'user', content: [{ type: 'text', text: 'stop' }] },
  ])
})

test('(V1) a second result for one use, and a result for no use, are reported instead of sent', () => {
  const view = viewOf([
    said('u', 'go'),
    answer('a', 'r', [use('t')]),
    result('x', 't', 'one'),
    result('y', 't', 'again'),
    result('z', 'nobody', 'stray'),
  ])
  expect(sent(view).at(-1)).toEqual({ role: 'user', content: [resultBlock('t', 'one')] })
  expect(view.orphans).toEqual([
    { entry: 'y', index: 0 },
    { entry: 'z', index: 0 },
  ])
})

test('(V1) a call replaced by text waits for no result, and results without their answer answer nothing', () => {
  const entries = [said('u', 'go'), answer('a', 'r', [use('t')])]
  const edit = (more: Pick<EditEntry, 'replace' | 'drop'>): Entry => ({
    ...place('e'),
    kind: 'edit',
    cause: 'forced',
    freedTokens: 0,
    ...more,
  })
  const words = JSON.stringify({ type: 'text', text: 'I called something.' })
  const told = viewOf([
    ...entries,
    edit({ replace: [{ at: { entry: 'a', index: 0 }, with: [words] }], drop: [] }),
  ])
  expect(told.open.size).toBe(0)
  const replace = [{ at: { entry: 'x', index: 0 }, with: [words] }]
  const folded = viewOf([...entries, result('x', 't', 'text'), edit({ replace, drop: ['a'] })])
  expect(folded.nodes.map(({ role, answers }) => [role, answers])).toEqual([
    ['user', undefined],
    ['user', undefined],
  ])
})

test('(V3) an edit replaces a block in place, and an undo restores the exact bytes', () => {
  const entries = [said('u', 'go'), answer('a', 'r', [use('t')]), result('x', 't', 'long text')]
  const before = sent(viewOf(entries))
  const cleared = resultBlock('t', 'cleared')
  const edit: Entry = {
    ...place('e'),
    kind: 'edit',
    cause: 'batch',
    replace: [{ at: { entry: 'x', index: 0 }, with: [JSON.stringify(cleared)] }],
    drop: [],
    freedTokens: 9,
  }
  const edited = viewOf([...entries, edit])
  expect(sent(edited).at(-1)).toEqual({ role: 'user', content: [cleared] })
  const undone = step(edited, { ...place('v'), kind: 'void', target: 'e' })
  expect(sent(undone)).toEqual(before)
  const redone = step(undone, { ...place('w'), kind: 'void', target: 'v' })
  expect(sent(redone).at(-1)).toEqual({ role: 'user', content: [cleared] })
})

test('(V4) thinking is left out if the prefix differs from the one it was made under, and restored with that prefix', () => {
  const opening = [said('u', 'go')]
  const under = settle(viewOf(opening), policy).chains.at(-1) ?? ''
  const thought: Block = { type: 'thinking', thinking: 'hm', signature: 's' }
  const entries = [...opening, answer('a', 'r', [thought, use('t')], under), result('x', 't', 'one')]
  expect(sent(viewOf(entries))[1]?.content).toEqual([thought, use('t')])
  const edit: Entry = {
    ...place('e'),
    kind: 'edit',
    cause: 'media',
    replace: [{ at: { entry: 'u', index: 0 }, with: ['{"type":"text","text":"changed"}'] }],
    drop: [],
    freedTokens: 0,
  }
  const edited = viewOf([...entries, edit])
  expect(sent(edited)[1]?.content).toEqual([use('t')])
  expect(sent(step(edited, { ...place('v'), kind: 'void', target: 'e' }))[1]?.content).toEqual([
    thought,
    use('t'),
  ])
})

test('(V4) an edit inside an answer strips the thinking that came after the edited block, all or none', () => {
  const under = settle(viewOf([said('u', 'go')]), policy).chains.at(-1) ?? ''
  const thoughts: Block[] = [
    { type: 'thinking', thinking: 'first', signature: 's1' },
    use('t'),
    { type: 'redacted_thinking', data: 's2' },
  ]
  const view = viewOf([
    said('u', 'go'),
    answer('a', 'r', thoughts, under),
    result('x', 't', 'one'),
    {
      ...place('e'),
      kind: 'edit',
      cause: 'server',
      replace: [{ at: { entry: 'a', index: 1 }, with: [JSON.stringify({ ...use('t'), input: {} })] }],
      drop: [],
      freedTokens: 1,
    },
  ])
  expect(sent(view)[1]?.content).toEqual([{ ...use('t'), input: {} }])
})

test('(V4) thinking of another model is left out unless the current one reads it', () => {
  const under = settle(viewOf([said('u', 'go')]), policy).chains.at(-1) ?? ''
  const thought: Block = { type: 'thinking', thinking: 'hm', signature: 's' }
  const entries = [said('u', 'go'), answer('a', 'r', [thought, { type: 'text', text: 'done' }], under)]
  const other = settle(viewOf(entries), { model: 'n', bindsPrefix: true, readsFrom: [] })
  expect(other.texts[1]).not.toContain('thinking')
  const reader = settle(viewOf(entries), { model: 'n', bindsPrefix: true, readsFrom: ['m'] })
  expect(reader.texts[1]).toContain('"signature":"s"')
})

test('an answer that broke off while thinking is sent without that thinking; one that only has thinking is not sent', () => {
  const lenient = { ...policy, bindsPrefix: false }
  const thought: Block = { type: 'thinking', thinking: 'hm', signature: 's' }
  const text: Block = { type: 'text', text: 'so' }
  const view = viewOf([
    said('u', 'go'),
    answer('a', 'r', [thought, text, thought]),
    said('v', 'stop'),
    answer('b', 'q', [thought]),
    said('w', 'again'),
  ])
  const texts = settle(view, lenient).texts
  expect(JSON.parse(texts[1] ?? '')).toEqual({ role: 'assistant', content: [thought, text] })
  expect(texts[3]).toBe('')
})

test('a boundary counts only once everything it names has been read', () => {
  const entries: Entry[] = [
    said('u', 'go'),
    answer('a', 'r', [{ type: 'text', text: 'yes' }]),
    said('v', 'more'),
  ]
  const boundary: Entry = {
    ...place('b'),
    kind: 'boundary',
    summary: ['s'],
    keeps: 'tail',
    kept: { head: 'v', tail: 'v', anchor: 's' },
    attachments: ['f'],
    logicalParent: 'v',
    meta: { trigger: 'auto', preTokens: 100 },
  }
  const torn = viewOf([...entries, boundary, { ...said('s', 'summary'), part: 'summary' }])
  expect(sent(torn)).toEqual(sent(viewOf(entries)))
  const whole = step(torn, { ...said('f', 'file'), part: 'attachment' })
  expect(sent(whole).map((message) => message.content)).toEqual([
    [{ type: 'text', text: 'summary' }],
    [{ type: 'text', text: 'more' }],
    [{ type: 'text', text: 'file' }],
  ])
  const undone = step(whole, { ...place('w'), kind: 'void', target: 'b' })
  expect(sent(undone)).toEqual(sent(viewOf(entries)))
})

test('a kept head comes before its summary and keeps its bytes', () => {
  const view = viewOf([
    said('u', 'go'),
    answer('a', 'r', [{ type: 'text', text: 'yes' }]),
    said('v', 'more'),
    {
      ...place('b'),
      kind: 'boundary',
      summary: ['s'],
      keeps: 'head',
      kept: { head: 'u', tail: 'a', anchor: 'b' },
      attachments: [],
      logicalParent: 'v',
      meta: { trigger: 'manual', preTokens: 100 },
    },
    { ...said('s', 'the rest, in short'), part: 'summary' },
  ])
  expect(sent(view).map((message) => message.role)).toEqual(['user', 'assistant', 'user'])
})

test('(V1) a call that a copy restores with its result waits for no other', () => {
  const meta = { trigger: 'manual' as const, preTokens: 100 }
  const boundary = { kind: 'boundary' as const, attachments: [], logicalParent: 'x', meta }
  const copyOf = (entry: MessageEntry): MessageEntry => ({
    ...entry,
    id: `copy-${entry.id}`,
    part: 'kept',
    copyOf: entry.id,
  })
  const [call, answered] = [answer('a', 'r', [use('t')]), result('x', 't', 'one')]
  const view = viewOf([
    said('u', 'go'),
    call,
    answered,
    // Keeps the call without its result.
    {
      ...place('b'),
      ...boundary,
      summary: ['s'],
      keeps: 'head',
      kept: { head: 'u', tail: 'a', anchor: 's' },
    },
    { ...said('s', 'summary'), part: 'summary' },
    { ...place('c'), ...boundary, summary: ['d'], keeps: 'tail', copies: ['copy-a', 'copy-x'] },
    { ...said('d', 'summary'), part: 'summary' },
    copyOf(call),
    copyOf(answered),
  ])
  expect(sent(view).slice(1)).toEqual([
    { role: 'assistant', content: [use('t')] },
    { role: 'user', content: [resultBlock('t', 'one')] },
  ])
  expect([...view.open.keys()]).toEqual([])
})

test('(V5) unknown blocks, odd numbers and message fields pass through byte for byte', () => {
  const json =
    '{"role":"user","content":[{"type":"hologram","z":1.0,"7":12345678901234567890,"a":"\\u0041"}],"clear_at":"never"}'
  const parsed: WireMessage = { role: 'user', content: [{ type: 'hologram' }], clear_at: 'never' }
  const view = viewOf([{ ...place('h'), kind: 'message', origin: 'user', message: parsed, json }])
  expect(settle(view, policy).texts).toEqual([json])
})

test('text without a visible character is not sent, and an answer with nothing else is left out', () => {
  const view = viewOf([
    said('u', 'go'),
    answer('a', 'r', [{ type: 'text', text: '\n\n' }]),
    said('v', 'again'),
  ])
  expect(sent(view).map((message) => message.role)).toEqual(['user', 'user'])
})

function place(id: string): { id: string; parent: null; at: number } {
  return { id, parent: null, at: 0 }
}

function said(id: string, text: string): MessageEntry {
  const message: WireMessage = { role: 'user', content: text }
  return { ...place(id), kind: 'message', origin: 'user', message, json: JSON.stringify(message) }
}

function answer(id: string, responseId: string, content: readonly Block[], under?: string): MessageEntry {
  const message: WireMessage = { role: 'assistant', content }
  return {
    ...place(id),
    kind: 'message',
    origin: 'model',
    message,
    json: JSON.stringify(message),
    responseId,
    model: 'm',
    ...(under === undefined ? {} : { under }),
  }
}

function result(id: string, toolUseId: string, text: string): MessageEntry {
  const message: WireMessage = { role: 'user', content: [resultBlock(toolUseId, text)] }
  return { ...place(id), kind: 'message', origin: 'tool', message, json: JSON.stringify(message) }
}

function resultBlock(id: string, content: string): Block {
  return { type: 'tool_result', tool_use_id: id, content }
}

function use(id: string): Block {
  return { type: 'tool_use', id, name: 'Read', input: { path: id } }
}

function sent(view: View): WireMessage[] {
  return settle(view, policy)
    .texts.filter((text) => text !== '')
    .map((text): WireMessage => JSON.parse(text))
}
