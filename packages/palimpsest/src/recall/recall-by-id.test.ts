import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import type { Entry, MessageEntry } from '../transcript/entry.ts'
import { recallOf } from '../transcript/recall-tool.ts'
import type { WireMessage } from '../wire/message.ts'
import { recallById } from './recall-by-id.ts'
import type { RecallSource } from './recalled.ts'

const PAGE = 1_000

function message(
  id: string,
  parent: string | null,
  content: NonNullable<WireMessage['content']>,
  more: Partial<MessageEntry> = {},
): MessageEntry {
  const own: WireMessage = { role: more.origin === 'model' ? 'assistant' : 'user', content }
  return {
    kind: 'message',
    id,
    parent,
    at: 0,
    origin: 'user',
    message: own,
    json: JSON.stringify(own),
    ...more,
  }
}

const uuid = (n: number): string => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
const use = (id: string, name = 'Bash') => ({ type: 'tool_use' as const, id, name, input: { command: 'ls' } })
const result = (id: string, text: string) => ({
  type: 'tool_result' as const,
  tool_use_id: id,
  content: text,
})

/** A line is passed over where it is not wanted, as the disk does it. */
function sourceOf(entries: readonly Entry[], blobs: { readonly [path: string]: string } = {}): RecallSource {
  return {
    entries: async function* (isWanted) {
      for (const entry of entries) if (isWanted(JSON.stringify(entry))) yield entry
    },
    blob: async ({ path }) => blobs[path],
  }
}

const CONVERSATION: readonly Entry[] = [
  message(uuid(1), null, 'Look.'),
  message(uuid(2), uuid(1), [{ type: 'text', text: 'I look.' }, use('toolu_a')], { origin: 'model' }),
  message(uuid(3), uuid(2), [result('toolu_a', 'a\tb  \n\nc ')], { origin: 'tool' }),
  message(uuid(4), uuid(3), [use('toolu_b')], { origin: 'model' }),
  message(uuid(5), uuid(4), [result('toolu_b', '<persisted-output>')], { origin: 'tool' }),
  {
    kind: 'stored',
    id: uuid(6),
    parent: uuid(5),
    at: 0,
    toolUseId: 'toolu_b',
    blob: { path: 's/tool-results/toolu_b-2.txt', bytes: 9 },
    standIn: '{}',
  },
  // A branch that was left.
  message(uuid(7), uuid(3), 'No, elsewhere.'),
  message(uuid(8), uuid(6), 'Go on.'),
  message(uuid(9), uuid(8), 'Look.', { part: 'kept', copyOf: uuid(1) }),
  { kind: 'notes', id: uuid(10), parent: uuid(9), at: 0, upTo: uuid(8), text: '# Notes' },
]
const SOURCE = sourceOf(CONVERSATION, { 's/tool-results/toolu_b-2.txt': 'all of it' })

async function textsOf(id: string, charsMax = PAGE): Promise<readonly string[] | string> {
  const found = await recallById(id, SOURCE, charsMax)
  return found.kind === 'texts' ? found.texts.map(({ text }) => text) : found.kind
}

describe('by id', () => {
  test.each([
    ['an id', uuid(3), 'a\tb  \n\nc '],
    ['the beginning of one', '00000003', 'a\tb  \n\nc '],
    ['an id in the form that texts use', `[${recallOf(uuid(3))}]`, 'a\tb  \n\nc '],
    ['a tool use', 'toolu_a', 'a\tb  \n\nc '],
    ['a tool use whose result is stored on disk', 'toolu_b', 'all of it'],
    ['the message of that result', '00000005', 'all of it'],
    ['the path of the file', '/home/p/s/tool-results/toolu_b-2.txt', 'all of it'],
    ['the original of a copy', uuid(1), 'Look.'],
    ['an answer', '00000002', 'I look.\n\nBash {"command":"ls"}'],
    ['notes', uuid(10), '# Notes'],
  ])('%s returns what was said, byte for byte', async (_what, id, text) => {
    expect(await textsOf(id)).toEqual([text])
  })

  test('the speaker is named', async () => {
    expect(await recallById('toolu_a', SOURCE, PAGE)).toMatchObject({
      texts: [{ id: uuid(3), what: 'result of Bash {"command":"ls"}' }],
    })
  })

  test('an unknown id finds nothing', async () => {
    expect(await textsOf('ffffffff')).toBe('none')
    expect(await textsOf('0000')).toBe('none')
    expect(await textsOf('..')).toBe('none')
  })

  test('several ids with the same beginning are listed', async () => {
    const entries = [message(uuid(1), null, 'one'), message(uuid(1).replace(/0$/, '1'), null, 'two')]
    const found = await recallById('00000001', sourceOf(entries), PAGE)
    expect(found).toMatchObject({ kind: 'rows', rows: [{ chars: 3 }, { chars: 3 }] })
  })
})

describe('a range', () => {
  const range = recallOf(uuid(1), uuid(8))

  test('contains what was said from one message to the other, on the branch of the last, without copies', async () => {
    expect(await textsOf(range)).toEqual([
      'Look.',
      'I look.\n\nBash {"command":"ls"}',
      'a\tb  \n\nc ',
      'Bash {"command":"ls"}',
      'all of it',
      'Go on.',
    ])
  })

  test('that is long is a list whose items can be found by id', async () => {
    const found = await recallById(range, SOURCE, 20)
    if (found.kind !== 'rows') throw new Error('no list')
    expect(found.rows.map(({ what }) => what)).toEqual([
      'message of the user',
      'answer, calls Bash {"command":"ls"}',
      'result of Bash {"command":"ls"}',
      'answer, calls Bash {"command":"ls"}',
      'result of Bash {"command":"ls"}',
      'message of the user',
    ])
    for (const { id } of found.rows) expect(await textsOf(id)).toHaveLength(1)
  })

  test('whose end does not exist is not found', async () => {
    expect(await textsOf(recallOf(uuid(1), uuid(99)))).toBe('none')
  })
})

test('every message of any conversation is found by its short id, byte for byte, also from a range', async () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), {
    minLength: 1,
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(texts, async (said) => {
      const entries = said.map((text, i) => message(uuid(i), i === 0 ? null : uuid(i - 1), text))
      const source = sourceOf(entries)
      for (const [i, text] of said.entries())
        expect(await recallById(recallOf(uuid(i)), source, PAGE)).toMatchObject({ texts: [{ text }] })
      const all = await recallById(recallOf(uuid(0), uuid(said.length - 1)), source, PAGE)
      expect(all).toMatchObject({ kind: 'texts', texts: said.map((text) => ({ text })) })
    }),
    cases(500, 100_000),
  )
})

describe('a removal', () => {
  const summary = (id: string, parent: string) =>
    message(id, parent, 'In short.', { part: 'summary', origin: 'engine' })
  const boundary = (n: number, parent: number, kept: number, copies: readonly string[]): Entry => ({
    kind: 'boundary',
    id: uuid(n),
    parent: null,
    logicalParent: uuid(parent),
    at: 0,
    summary: [uuid(n + 1)],
    kept: { head: uuid(kept), tail: uuid(kept), anchor: uuid(n + 1) },
    keeps: 'tail',
    copies,
    attachments: [],
    meta: { trigger: 'auto', preTokens: 10 },
  })
  const entries: readonly Entry[] = [
    ...[1, 2, 3, 4].map((n) => message(uuid(n), n === 1 ? null : uuid(n - 1), `Said ${n}.`)),
    boundary(10, 4, 4, [uuid(12)]),
    summary(uuid(11), uuid(10)),
    message(uuid(12), uuid(11), 'Said 1.', { part: 'kept', copyOf: uuid(1) }),
    message(uuid(13), uuid(12), 'Said 13.'),
    {
      kind: 'edit',
      id: uuid(14),
      parent: uuid(13),
      at: 0,
      cause: 'forced',
      replace: [{ at: { entry: uuid(4), index: 0 }, with: [] }],
      drop: [uuid(13)],
      freedTokens: 1,
    },
    message(uuid(15), uuid(14), 'Said 15.'),
    boundary(20, 15, 15, []),
    summary(uuid(21), uuid(20)),
  ]

  test.each([
    ['a compaction', 10, ['Said 2.', 'Said 3.']],
    ['a compaction that also removes what the previous one kept', 20, ['Said 1.', 'Said 4.', 'Said 13.']],
    ['a clearing', 14, ['Said 4.', 'Said 13.']],
  ])('%s returns the messages that it removed', async (_what, id, texts) => {
    const found = await recallById(uuid(id), sourceOf(entries), PAGE)
    expect(found.kind === 'texts' ? found.texts.map(({ text }) => text) : found.kind).toEqual(texts)
    expect(await recallById(uuid(id), sourceOf(entries), 10)).toMatchObject({ kind: 'rows' })
  })
})
