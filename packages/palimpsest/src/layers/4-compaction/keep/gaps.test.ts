import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import { compacted, said } from '../../../../../../test/kit/said.ts'
import { viewOf, type View } from '../../../transcript/view.ts'
import { gapsBetween, isOneGap, joined, markersOf, withGaps, type Gap } from './gaps.ts'

const CONVERSATION = said([
  { user: 'Go.' },
  { call: 'Read', input: { file_path: '/a' }, result: 'text' },
  { model: 'Read.' },
  { user: 'On.' },
  { call: 'Read', input: { file_path: '/b' }, result: 'text' },
  { model: 'Done.' },
])

const tokensAt = (): number => 100

function gapsOf(view: View, stays: readonly number[], to = view.nodes.length): ReadonlyMap<number, Gap> {
  return gapsBetween(view, new Set(stays), { from: 0, to }, tokensAt)
}

describe('what is left out', () => {
  test('is counted at its place: before the first kept message, between two, after the last', () => {
    const gaps = gapsOf(viewOf(CONVERSATION), [3, 4])
    expect([...gaps]).toEqual([
      [0, { first: 'e1', last: 'e3', messages: 3, results: 1, tokens: 300 }],
      [2, { first: 'e6', last: 'e8', messages: 3, results: 1, tokens: 300 }],
    ])
  })

  test('is reported in one line, with its size and how to see it', () => {
    const gaps = gapsOf(viewOf(CONVERSATION), [3, 4])
    expect([...markersOf(gaps, true)]).toEqual([
      [0, '[Left out here: 3 messages (1 tool result), about 300 tokens. Recall id=e1..e3 shows them.]'],
      [2, '[Left out here: 3 messages (1 tool result), about 300 tokens. Recall id=e6..e8 shows them.]'],
    ])
    expect([...markersOf(gaps, false).values()][0]).toBe(
      '[Left out here: 3 messages (1 tool result), about 300 tokens. In the transcript: e1 to e3.]',
    )
    const one = gapsOf(viewOf(CONVERSATION), [0, 1, 2, 4, 5, 6, 7])
    expect([...markersOf(one, true).values()]).toEqual([
      '[Left out here: 1 message, about 100 tokens. Recall id=e4 shows it.]',
    ])
  })

  test('needs no line if the summary alone takes its place: the summary says it', () => {
    const gaps = gapsOf(viewOf(CONVERSATION), [4, 5, 6, 7])
    expect(isOneGap(gaps)).toBe(true)
    expect(markersOf(gaps, true).size).toBe(0)
    expect(isOneGap(gapsOf(viewOf(CONVERSATION), [0, 5, 6, 7]))).toBe(false)
  })

  test('does not include messages that a program added', () => {
    const view = viewOf([...CONVERSATION, ...compacted('b', 'e8')])
    expect(gapsOf(view, [])).toEqual(new Map())
  })

  test('includes what had left before, through the summary that replaced it', () => {
    const earlier = { first: 'e1', last: 'e8', messages: 8, results: 2, tokens: 800 }
    const extra = withGaps({}, new Map([['b-summary', earlier]]))
    const view = viewOf([
      ...CONVERSATION,
      ...compacted('b', 'e8', extra),
      ...said([{ user: 'More.' }, { model: 'Yes.' }], 9),
    ])
    expect([...gapsOf(view, [])]).toEqual([
      [0, { first: 'e1', last: 'e10', messages: 10, results: 2, tokens: 1_000 }],
    ])
  })
})

test('whatever is kept, everything left out is counted exactly once', () => {
  const round = fc.constantFrom(
    { user: 'words' },
    { model: 'words' },
    { call: 'Bash', input: { command: 'ls' }, result: 'files' },
  )
  fc.assert(
    fc.property(fc.array(round, { maxLength: 20 }), fc.infiniteStream(fc.boolean()), (spoken, stream) => {
      const entries = said(spoken)
      const view = viewOf(entries)
      const stays = view.nodes.flatMap((node, i) =>
        node.answers === undefined && stream.next().value ? [i] : [],
      )
      // A round stays or goes as a whole.
      const whole = stays.flatMap((i) => (view.nodes[i + 1]?.answers === undefined ? [i] : [i, i + 1]))
      const gaps = [...gapsOf(view, whole).values()]
      const gone = view.nodes.filter((_, i) => !whole.includes(i)).flatMap((node) => node.entries)
      expect(joined(gaps)?.messages ?? 0).toBe(gone.length)
      const ids = entries.map(({ id }) => id)
      const covered = gaps.flatMap(({ first, last }) => ids.slice(ids.indexOf(first), ids.indexOf(last) + 1))
      expect(covered).toEqual(gone)
    }),
    cases(500, 100_000),
  )
})
