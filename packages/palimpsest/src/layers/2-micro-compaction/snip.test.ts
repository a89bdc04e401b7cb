import { expect, test } from 'vitest'

import type { Entry, MessageEntry } from '../../transcript/entry.ts'
import { settle } from '../../transcript/settle.ts'
import { emptyView, step, viewOf, type View } from '../../transcript/view.ts'
import type { JsonObject } from '../../wire/json.ts'
import type { Block, WireMessage } from '../../wire/message.ts'
import { clearableResults } from './results-in-view.ts'
import { planSnip, type SnipPlan } from './snip.ts'

test('a round is removed if each of its calls was repeated later', () => {
  expect(snipped([read(0), search(1), read(2), search(3)], ['/a', 'x', '/b', 'x'])).toEqual(['a1', 'x1'])
})

test('a partial read is removed if the whole file was read later, but a whole read is not removed for a partial one', () => {
  const part = { offset: 10, limit: 5 }
  expect(snipped([read(0, part), read(1)], ['/a', '/a'])).toEqual(['a0', 'x0'])
  expect(snipped([read(0), read(1, part)], ['/a', '/a'])).toEqual([])
  expect(snipped([read(0, part), read(1, { offset: 90 })], ['/a', '/a'])).toEqual([])
})

test('a later call that failed, or showed only the first page of a long file, supersedes nothing', () => {
  expect(snipped([read(0), read(1, {}, { is_error: true })], ['/a', '/a'])).toEqual([])
  const page = { content: Array.from({ length: 2_000 }, (_, i) => `${i}`).join('\n') }
  expect(snipped([read(0, { offset: 3_000 }), read(1, {}, page)], ['/a', '/a'])).toEqual([])
  const more = { content: 'line\n[3000 more lines; go on with offset=2]' }
  expect(snipped([read(0, { offset: 3_000 }), read(1, {}, more)], ['/a', '/a'])).toEqual([])
})

test('errors and rounds outside the range stay', () => {
  expect(snipped([read(0, {}, { is_error: true }), read(1)], ['/a', '/a'])).toEqual([])
  expect(snipped([read(0), read(1), read(2)], ['/a', '/a', '/a'], { from: 3 })).toEqual(['a1', 'x1'])
})

test('thinking in a running tool loop is never touched; thinking of an earlier turn is removed with its round', () => {
  const thinks = { thinks: true }
  expect(snipped([read(0, {}, thinks), read(1)], ['/a', '/a'], { ends: false })).toEqual([])
  expect(snipped([read(0), read(1)], ['/a', '/a'], { ends: false })).toEqual(['a0', 'x0'])
  expect(snipped([read(0, {}, thinks), read(1)], ['/a', '/a'])).toEqual(['a0', 'x0'])
})

test('at every step, a view that grows and is edited gives the same result as one built from scratch', () => {
  const stub = [JSON.stringify({ type: 'tool_result', tool_use_id: 't1', content: 'gone' })]
  const base = { parent: null, at: 0, kind: 'edit', cause: 'batch', freedTokens: 0 } as const
  const pin = { parent: null, at: 0, kind: 'pin', target: { entry: 'x1', index: 0 } } as const
  const entries: Entry[] = [
    message('u', { role: 'user', content: 'go' }),
    ...read(0)('/a'),
    ...search(1)('x'),
    ...read(2)('/a'),
    { ...pin, id: 'p1', on: true },
    { ...pin, id: 'p2', on: false },
    { ...base, id: 'e1', drop: ['a0', 'x0'], replace: [] },
    ...search(3)('x'),
    ...read(4, {}, { is_error: true })('/a'),
    { ...base, id: 'e2', drop: [], replace: [{ at: { entry: 'x1', index: 0 }, with: stub }] },
    ...read(5)('/a'),
    { ...base, id: 'e3', drop: ['a5', 'x5', 'a4', 'x4'], replace: [] },
    { id: 'v1', parent: null, at: 0, kind: 'void', target: 'e1' },
    ...read(6)('/b'),
  ]
  let view = emptyView()
  const told: (readonly unknown[])[] = []
  for (const [i, entry] of entries.entries()) {
    view = step(view, entry)
    told.push(seenIn(view))
    expect(told[i]).toEqual(seenIn(viewOf(entries.slice(0, i + 1))))
  }
  expect(told.some(([drop]) => drop !== undefined)).toBe(true)
})

function seenIn(view: View): readonly unknown[] {
  const { tokens } = settle(view, { model: 'm', bindsPrefix: false, readsFrom: [] })
  return [planSnip(view, tokens, { from: 0, limit: view.nodes.length })?.drop, clearableResults(view)]
}

interface Outcome {
  readonly is_error?: boolean
  readonly content?: string
  readonly thinks?: boolean
}

type Round = (argument: string) => Entry[]

function read(i: number, part: JsonObject = {}, outcome: Outcome = {}): Round {
  return (file_path) => round(i, 'Read', { file_path, ...part }, outcome)
}

function search(i: number): Round {
  return (pattern) => round(i, 'Grep', { pattern }, {})
}

function snipped(
  rounds: readonly Round[],
  names: readonly string[],
  { from = 0, ends = true }: { readonly from?: number; readonly ends?: boolean } = {},
): SnipPlan['drop'] {
  const end: WireMessage = { role: 'assistant', content: [{ type: 'text', text: 'so far' }] }
  const view = viewOf([
    message('u', { role: 'user', content: 'go' }),
    ...rounds.flatMap((make, i) => make(names[i] ?? '')),
    ...(ends
      ? [message('end', end), message('v', { role: 'user', content: 'go on' })]
      : round(9, 'Bash', { command: 'ls' }, {})),
  ])
  const { tokens } = settle(view, { model: 'm', bindsPrefix: false, readsFrom: [] })
  return planSnip(view, tokens, { from, limit: view.nodes.length })?.drop ?? []
}

function round(
  i: number,
  name: string,
  input: JsonObject,
  { thinks = false, content = 'one\ntwo', ...extra }: Outcome,
): Entry[] {
  const thought: Block = { type: 'thinking', thinking: 'so', signature: 's' }
  const call = { type: 'tool_use', id: `t${i}`, name, input } as const
  const result = { type: 'tool_result', tool_use_id: `t${i}`, content, ...extra } as const
  return [
    message(`a${i}`, { role: 'assistant', content: [...(thinks ? [thought] : []), call] }),
    message(`x${i}`, { role: 'user', content: [result] }),
  ]
}

function message(id: string, wire: WireMessage): MessageEntry {
  const origin = wire.role === 'assistant' ? 'model' : 'user'
  return { id, parent: null, at: 0, kind: 'message', origin, message: wire, json: JSON.stringify(wire) }
}
