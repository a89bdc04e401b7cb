import { expect, test } from 'vitest'

import type { Entry, MessageEntry } from '../../transcript/entry.ts'
import { viewOf } from '../../transcript/view.ts'
import type { WireMessage } from '../../wire/message.ts'
import { planShare } from './plan.ts'
import { storagePolicy } from './policy.ts'

const policy = { ...storagePolicy(1), answerCharsMax: 10_000, previewBytes: 100 }

test('results of one answer share their room: the largest are stored, and those of tools with their own bounds neither move nor count', () => {
  const view = viewOf(answered({ Read: 30_000, Bash: 6_000, Grep: 3_000 }))
  expect(planShare(view, policy, (tool) => tool === 'Read')).toEqual([])
  expect(planShare(view, policy, () => false).map(({ result }) => result.tool_use_id)).toEqual(['Read'])
  const more = viewOf(answered({ Read: 30_000, Bash: 6_000, Grep: 5_000 }))
  const plans = planShare(more, policy, (tool) => tool === 'Read')
  expect(plans.map(({ result }) => result.tool_use_id)).toEqual(['Bash'])
})

test('all sizes scale with the window: in 16,000 tokens instead of 200,000 a preview has 160 bytes', () => {
  expect(storagePolicy(0.08)).toEqual({ resultCharsMax: 4_000, answerCharsMax: 16_000, previewBytes: 160 })
})

/** An answer that calls each tool once, and results of so many characters. */
function answered(chars: { readonly [tool: string]: number }): Entry[] {
  const calls = Object.keys(chars).map(
    (tool) => ({ type: 'tool_use', id: tool, name: tool, input: {} }) as const,
  )
  return [
    message('u', { role: 'user', content: 'go' }),
    { ...message('a', { role: 'assistant', content: calls }), origin: 'model' },
    ...Object.entries(chars).map(([tool, count]): Entry => {
      const result = { type: 'tool_result', tool_use_id: tool, content: 'x'.repeat(count) } as const
      return { ...message(`r-${tool}`, { role: 'user', content: [result] }), origin: 'tool' }
    }),
  ]
}

function message(id: string, wire: WireMessage): MessageEntry {
  return {
    id,
    parent: null,
    at: 0,
    kind: 'message',
    origin: 'user',
    message: wire,
    json: JSON.stringify(wire),
  }
}
