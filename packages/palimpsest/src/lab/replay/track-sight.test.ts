import { expect, test } from 'vitest'

import { allBlocks, inventSession } from '../../../../../test/kit/invented-session.ts'
import { estimateText } from '../../tokens/estimate.ts'
import type { Entry, MessageEntry } from '../../transcript/entry.ts'
import { settle } from '../../transcript/settle.ts'
import { viewOf } from '../../transcript/view.ts'
import { measureSession } from './measure/score.ts'
import { createSightTracker } from './track-sight.ts'

const FILE = Array.from({ length: 12 }, (_, i) => `export const value_${i} = compute(${i * 7})`)
const session = inventSession([
  { user: 'Look.' },
  { calls: [{ name: 'Read', input: { file_path: '/p/a.ts' }, result: FILE.join('\n') }] },
  { say: 'I have looked.' },
])
const POLICY = { model: 'm', bindsPrefix: false, readsFrom: [] }

/** The conversation behind a boundary that leaves the last answer and a summary. */
function behind(summary: string) {
  const message = { role: 'user', content: summary } as const
  const made: MessageEntry = {
    kind: 'message',
    id: 's',
    parent: null,
    at: 0,
    origin: 'engine',
    part: 'summary',
    message,
    json: JSON.stringify(message),
  }
  const last = session.entries.at(-1)?.id ?? ''
  const boundary: Entry = {
    kind: 'boundary',
    id: 'b',
    parent: null,
    at: 0,
    summary: ['s'],
    keeps: 'tail',
    kept: { head: last, tail: last, anchor: 's' },
    attachments: [],
    logicalParent: last,
    meta: { trigger: 'auto', preTokens: 0 },
  }
  const view = viewOf([...session.entries, boundary, made])
  const tracker = createSightTracker(session, measureSession(session, allBlocks(session)))
  return tracker.look(settle(view, POLICY), 0)
}

test('the text that a strategy wrote and the text it repeats in pieces are counted separately', () => {
  const piece = FILE.slice(2, 8).join('\n')
  const words = 'The file holds values, each computed from its number.\n'
  const { madeRaw, excerptRaw } = behind(`${words}${piece}`)
  const share = piece.length / (words.length + piece.length)
  expect(excerptRaw / madeRaw).toBeCloseTo(share, 5)
  expect(madeRaw).toBeGreaterThanOrEqual(estimateText(`${words}${piece}`))
})

test('single lines that it quotes count as its own text', () => {
  const quoted = [FILE[2], 'and further down', FILE[7]].join('\n')
  expect(behind(quoted)).toMatchObject({ excerptRaw: 0 })
})
