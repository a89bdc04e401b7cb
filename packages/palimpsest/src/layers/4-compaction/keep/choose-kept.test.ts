import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import { said } from '../../../../../../test/kit/said.ts'
import { settle } from '../../../transcript/settle.ts'
import type { Entry } from '../../../transcript/entry.ts'
import { viewOf, type View } from '../../../transcript/view.ts'
import { chooseKept, type KeptChoice, type KeptRoom } from './choose-kept.ts'
import { COMPACTION_POLICY } from '../policy.ts'

const WINDOW_TOKENS = 40_000
const LINES = 60

const read = (path: string) => ({ call: 'Read', input: { file_path: path }, result: code(path) })
const ran = (command: string) => ({ call: 'Bash', input: { command }, result: code(command) })
const edited = (path: string) => ({
  call: 'Edit',
  input: { file_path: path, old_string: 'a', new_string: 'b' },
  result: 'done',
})

test('of two old rounds of the same size, a read of an unchanged file is kept before the output of a command', () => {
  const view = viewOf(said([{ user: 'go' }, ran('make'), read('/p/a.ts'), ...filling(20)]))
  expect(titles(view, choose(view, { keptShare: 0.3 }))).toContain('/p/a.ts')
  expect(titles(view, choose(view, { keptShare: 0.3 }))).not.toContain('make')
})

test.each([
  ['changed since', edited('/p/a.ts')],
  ['read again', read('/p/a.ts')],
])('a file that was %s: its older read is dropped first', (_name, later) => {
  const view = viewOf(said([{ user: 'go' }, read('/p/a.ts'), read('/p/b.ts'), later, ...filling(20)]))
  const kept = choose(view, { keptShare: 0.25 })
  expect(kept.copied).not.toContain(2)
  expect(kept.copied).toContain(4)
})

test.each([
  ['a command', ran('npm test')],
  ['a search', { call: 'Grep', input: { pattern: 'x' }, result: 'a.ts:1: x' }],
])(
  'an older result of %s that a newer one contradicts is not kept, even if the newer one is dropped',
  (_name, older) => {
    const newer = { ...older, result: 'FAIL' }
    const view = viewOf(said([{ user: 'go' }, older, newer, read('/p/b.ts'), ...filling(10)]))
    const all = { keptShare: 0.9, keptShareMax: 0.9, keptTokensMax: Infinity }
    expect(choose(view, all).copied).not.toContain(2)
    // One that says the same, but for numbers, contradicts nothing.
    const same = viewOf(said([{ user: 'go' }, older, older, read('/p/b.ts'), ...filling(10)]))
    expect(choose(same, all).copied).toContain(2)
  },
)

test('an older to-do list is not kept next to a newer one, whatever their results say', () => {
  const list = (status: string) => ({
    call: 'TodoWrite',
    input: { todos: [{ content: 'mend the boat', status }] },
    result: 'The list was changed.',
  })
  const view = viewOf(said([{ user: 'go' }, list('pending'), list('completed'), ...filling(10)]))
  const kept = choose(view, { keptShare: 0.9, keptShareMax: 0.9, keptTokensMax: Infinity }).copied
  expect(kept).not.toContain(1)
  expect(kept).toContain(3)
})

test('a read is kept only with every later change of the file: without them its content is outdated', () => {
  const long = { ...edited('/p/a.ts'), result: code('edit').repeat(12) }
  const view = viewOf(said([{ user: 'go' }, read('/p/a.ts'), long, read('/p/b.ts'), ...filling(8)]))
  for (const keptShare of [0.2, 0.4, 0.6, 0.9]) {
    const { copied, tailFrom } = choose(view, { keptShare, keptShareMax: keptShare, keptTokensMax: Infinity })
    const stays = (index: number): boolean => index >= tailFrom || copied.includes(index)
    expect(stays(1) && !stays(3)).toBe(false)
  }
})

test('a small piece between two kept ones is kept too, so there is no gap', () => {
  const view = viewOf(
    said([{ user: 'go' }, read('/p/a.ts'), { model: 'Seen.' }, read('/p/b.ts'), ...filling(10)]),
  )
  const kept = choose(view, { keptShare: 0.9, keptShareMax: 0.9, keptTokensMax: Infinity }).copied
  expect(kept).toEqual(expect.arrayContaining([1, 2, 3, 4, 5]))
})

test('the newest failed run of a command is kept whole until the command succeeds', () => {
  const failed = { ...ran('npm test'), result: 'Exit code 1\nFAIL login.test.ts', error: true }
  const view = viewOf(said([{ user: 'go' }, failed, ...filling(20)]))
  expect(choose(view, { keptShare: 0.2 }).copied).toEqual(expect.arrayContaining([1, 2]))
  const mended = viewOf(said([{ user: 'go' }, failed, ...filling(19), ran('npm test')]))
  expect(choose(mended, { keptShare: 0.2 }).copied).not.toContain(2)
})

test("the user's messages are kept up to their share: the newest, the first, then newer ones first; a long one is dropped alone", () => {
  const [plan, long] = ['step '.repeat(4_000), 'word '.repeat(9_000)]
  const spoken = [{ user: plan }, ran('a'), { user: long }, ran('b'), { user: plan }, ran('c')]
  const view = viewOf(said([...spoken, { user: 'two' }, ran('d'), { user: 'three' }, ...filling(20)]))
  const users = (share: number): readonly number[] =>
    choose(view, { userShare: share, userTokensMin: 0 }).copied.filter((index) =>
      [0, 3, 6, 9, 12].includes(index),
    )
  expect([users(0.4), users(0.2), users(0)]).toEqual([[0, 6, 9, 12], [0, 9, 12], []])
  // However small the room, short ones stay.
  const tiny = { ...roomOf(view), autoTokens: 0 }
  expect(chooseKept(view, tiny, COMPACTION_POLICY).copied).toEqual(expect.arrayContaining([9, 12]))
})

test('a pinned message is kept, whatever it is worth', () => {
  const entries = said([{ user: 'go' }, ran('make'), ...filling(30)])
  const result = entries[2]
  const pin: Entry = {
    kind: 'pin',
    id: 'p',
    parent: null,
    at: 0,
    target: { entry: result?.id ?? '', index: 0 },
    on: true,
  }
  const view = viewOf([...entries, pin])
  expect(choose(view).copied).toEqual(expect.arrayContaining([1, 2]))
})

test('a tail never starts before the last boundary, and what that boundary kept is chosen from again', () => {
  const before = said([{ user: 'go' }, read('/p/a.ts'), ran('make')])
  const [head, tail] = [before[1]?.id ?? '', before.at(-1)?.id ?? '']
  const summary: Entry = {
    kind: 'message',
    id: 's',
    parent: null,
    at: 0,
    origin: 'engine',
    part: 'summary',
    message: { role: 'user', content: 'summary' },
    json: '{"role":"user","content":"summary"}',
  }
  const boundary: Entry = {
    kind: 'boundary',
    id: 'b',
    parent: null,
    at: 0,
    summary: ['s'],
    kept: { head, tail, anchor: 's' },
    keeps: 'tail',
    attachments: [],
    logicalParent: null,
    meta: { trigger: 'auto', preTokens: 0 },
  }
  const view = viewOf([...before, boundary, summary, ...said([ran('later'), ran('last')], 50)])
  const kept = choose(view, { keptShare: 1, keptShareMax: 1, tailTokens: Infinity, tailShare: 1 })
  expect(kept.tailFrom).toBe(view.boundary?.nodes)
  // The earlier summary is none of what stays.
  expect(kept.copied).toEqual([1, 2, 3, 4])
})

test('(V1) rounds are kept or dropped whole, and what is kept fits its share', () => {
  const spoken = fc.array(
    fc.oneof(
      fc.constantFrom('a', 'b', 'c').map((name) => read(`/p/${name}.ts`)),
      fc.constantFrom('make', 'rg x', 'cat /p/a.ts').map(ran),
      fc.constantFrom('a', 'b').map((name) => edited(`/p/${name}.ts`)),
      fc.constantFrom('yes', 'no').map((user) => ({ user })),
    ),
    { minLength: 3, maxLength: 40 },
  )
  fc.assert(
    fc.property(spoken, fc.double({ min: 0.1, max: 0.8, noNaN: true }), (list, keptShare) => {
      const view = viewOf(said([{ user: 'go' }, ...list, read('/p/z.ts')]))
      const { copied, tailFrom } = choose(view, { keptShare })
      for (const index of copied) {
        const node = view.nodes[index]
        if (node?.role === 'assistant' && view.nodes[index + 1]?.answers !== undefined)
          expect(copied).toContain(index + 1)
        if (node?.answers !== undefined) expect(copied).toContain(index - 1)
      }
      expect(view.nodes[tailFrom]?.answers).toBeUndefined()
      const rounds = copied.filter((index) => view.nodes[index]?.source.origin !== 'user')
      const { rawBefore } = roomOf(view)
      const tokens = rounds.reduce((sum, i) => sum + (rawBefore[i + 1] ?? 0) - (rawBefore[i] ?? 0), 0)
      expect(tokens).toBeLessThanOrEqual(Math.max(keptShare, COMPACTION_POLICY.keptShareMax) * WINDOW_TOKENS)
    }),
    cases(25, 2_000),
  )
})

function choose(view: View, policy: Partial<typeof COMPACTION_POLICY> = {}): KeptChoice {
  return chooseKept(view, roomOf(view), { ...COMPACTION_POLICY, keptTokensMin: 0, tailTokens: 0, ...policy })
}

function roomOf(view: View): KeptRoom {
  const { tokens: rawBefore } = settle(view, { model: '', bindsPrefix: false, readsFrom: [] })
  return { autoTokens: WINDOW_TOKENS, prefixTokens: 0, toTokens: (raw) => raw, rawBefore }
}

/** What the calls of the copied nodes are about. */
function titles(view: View, { copied }: KeptChoice): string[] {
  return copied.flatMap((index) =>
    (view.nodes[index]?.blocks ?? []).map(
      ({ json }) => /"(?:file_path|command)":"([^"]*)"/.exec(json)?.[1] ?? '',
    ),
  )
}

function filling(rounds: number) {
  return Array.from({ length: rounds }, (_, i) => ran(`step ${i}`))
}

function code(name: string): string {
  return Array.from({ length: LINES }, (_, i) => `const value${i} = compute(${i}) // ${name}`).join('\n')
}
