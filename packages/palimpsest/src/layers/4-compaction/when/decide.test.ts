import { expect, test } from 'vitest'

import type { Entry } from '../../../transcript/entry.ts'
import { emptyView, step, type View } from '../../../transcript/view.ts'
import { decideCompaction, REFILLS_MAX, type CompactionMoment } from './decide.ts'
import { withRecord } from '../../../situation/compaction-record.ts'

// When a window that fills too fast stops being compacted, and what lets it begin again.

const THRESHOLD = 50_000
const MOMENT: CompactionMoment = {
  now: 1_000,
  cause: 'threshold',
  source: 'main',
  model: 'm',
  thresholdTokens: THRESHOLD,
}

/** A boundary with so many refills before it, and an answer for each size that a request had since. */
function viewWith(refills: number, sizes: readonly number[]): View {
  const record = {
    ...{ cause: 'threshold', source: 'main', model: 'm', thresholdTokens: THRESHOLD, near: true },
    ...{ turnsSince: 0, turn: null, previousTurn: null, refills, failures: 0, triedAt: 0, outcomes: [] },
  }
  const boundary: Entry = {
    ...{ kind: 'boundary', id: 'b', parent: null, at: 1, summary: ['s'], keeps: 'tail', attachments: [] },
    logicalParent: null,
    meta: { trigger: 'auto', preTokens: 1, extra: withRecord(record, {}) },
  }
  const summary = said('s', 'b', 'user', 'A summary.')
  const rounds = sizes.flatMap((input_tokens, i): Entry[] => {
    const asked = said(`u${i}`, i === 0 ? 's' : `a${i - 1}`, 'user', 'go on')
    return [
      asked,
      { ...said(`a${i}`, `u${i}`, 'assistant', 'done'), usage: { input_tokens, output_tokens: 1 } },
    ]
  })
  return [boundary, { ...summary, part: 'summary' as const }, ...rounds].reduce(step, emptyView())
}

function said(id: string, parent: string, role: 'user' | 'assistant', content: string) {
  const message = { role, content: [{ type: 'text' as const, text: content }] }
  const origin = role === 'user' ? 'user' : 'model'
  return { kind: 'message', id, parent, at: 2, origin, message, json: JSON.stringify(message) } as const
}

const LOW = 20_000
const OVER = 51_000

test.each([
  ['full again after two rounds', [LOW, LOW], 'stop'],
  ['full again after four', [LOW, LOW, LOW, LOW], 'stop'],
  ['full after five', [LOW, LOW, LOW, LOW, LOW], 'compact'],
  [
    'sent over the threshold since then, however often',
    [LOW, LOW, OVER, OVER, OVER, OVER, OVER, OVER, OVER],
    'stop',
  ],
  [
    'counted as slightly less than the threshold',
    [LOW, LOW, ...Array.from({ length: 9 }, () => 48_000)],
    'stop',
  ],
  ['with four rounds below it again', [LOW, OVER, OVER, LOW, LOW, LOW, LOW], 'stop'],
  [
    'with five rounds below it again, so something made room',
    [LOW, OVER, OVER, LOW, LOW, LOW, LOW, LOW],
    'compact',
  ],
  ['full late, then declined often', [LOW, LOW, LOW, LOW, LOW, OVER, OVER, OVER, OVER, OVER], 'compact'],
])('after the third refill, a window that is %s: %j', (_what, sizes, kind) => {
  expect(decideCompaction(viewWith(REFILLS_MAX, sizes), MOMENT).kind).toBe(kind)
})

test('each refill is counted, the third compacts harder, and a pause does not count', () => {
  const decide = (refills: number, moment: Partial<CompactionMoment> = {}) =>
    decideCompaction(viewWith(refills, [LOW, LOW]), { ...MOMENT, ...moment })
  expect(decide(0)).toMatchObject({ harder: false, record: { refills: 1, near: true } })
  expect(decide(2)).toMatchObject({ harder: true, record: { refills: 3, near: true } })
  expect(decide(2, { cause: 'idle' })).toMatchObject({ harder: false, record: { refills: 2 } })
  expect(decide(3, { cause: 'asked' })).toMatchObject({ harder: false, record: { refills: 0 } })
})

test('if no request can be sent, a compaction after the third refill is harder and asks no model', () => {
  const decided = decideCompaction(viewWith(REFILLS_MAX, [LOW, LOW]), { ...MOMENT, cause: 'overflow' })
  expect(decided).toMatchObject({ kind: 'compact', mayAsk: false, harder: true, record: { refills: 4 } })
})
