import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { isBlock, type WireMessage } from '../wire/message.ts'
import type { BoundaryEntry, Entry, EntryId, MessageEntry, SeenFile } from './entry.ts'
import { seenFiles } from './seen-files.ts'
import { viewOf, type View } from './view.ts'

// Files have versions: `a@3` is the content of file a after three changes, and it is what a read shows and what names it.

type Operation =
  | { readonly op: 'read' | 'write' | 'edit' | 'change'; readonly path: string; readonly fails: boolean }
  | { readonly op: 'clear' | 'drop' | 'compact' | 'undo'; readonly pick: number }

const path = fc.constantFrom('a', 'b')
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    op: fc.constantFrom('read' as const, 'write' as const, 'edit' as const, 'change' as const),
    path,
    fails: fc.boolean(),
  }),
  fc.record({
    op: fc.constantFrom('clear' as const, 'drop' as const, 'compact' as const, 'undo' as const),
    pick: fc.nat(9),
  }),
)

test('a file counts as seen only while its content is in view, whatever was removed or restored', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 24 }), (operations) => {
      const entries = play(operations)
      const view = viewOf(entries)
      expect(Object.fromEntries(seenFiles(view))).toEqual(Object.fromEntries(readOff(view)))
    }),
    cases(500, 100_000),
  )
})

test('a file read before a clearing by the provider does not count as seen', () => {
  const before = round(0, 'read', { path: 'a', hash: 'a@0', how: 'read' }, 'a@0')
  const cleared: Entry = {
    kind: 'edit',
    id: 'server',
    parent: null,
    at: 0,
    cause: 'server',
    replace: [],
    drop: [],
    freedTokens: 9,
  }
  const after = round(1, 'read', { path: 'b', hash: 'b@0', how: 'read' }, 'b@0')
  expect([...seenFiles(viewOf([...before, cleared, ...after])).keys()]).toEqual(['b'])
})

/** As a reader of the messages would: a read tells the content, a call that wrote tells it too, one that edited tells what it became. */
function readOff(view: View): ReadonlyMap<string, string> {
  const known = new Map<string, string>()
  const calls = new Map<string, string>()
  for (const { block, json } of view.nodes.flatMap(({ blocks }) => blocks)) {
    if (isBlock(block, 'tool_use')) calls.set(block.id, json)
    if (!isBlock(block, 'tool_result') || block.is_error) continue
    const call = calls.get(block.tool_use_id) ?? ''
    const [, did, name = '', from, to = ''] = /(reads|writes|edits) (\w) (\S+) to (\S+?)"/.exec(call) ?? []
    if (did === 'reads' && json.includes(`${name} holds ${to}"`)) known.set(name, to)
    if (did === 'writes') known.set(name, to)
    if (did === 'edits') {
      if (known.get(name) === from) known.set(name, to)
      else known.delete(name)
    }
  }
  return known
}

function play(operations: readonly Operation[]): readonly Entry[] {
  const entries: Entry[] = []
  const versions = new Map([
    ['a', 0],
    ['b', 0],
  ])
  const results: EntryId[] = []
  const removals: EntryId[] = []
  for (const [i, operation] of operations.entries()) {
    if ('pick' in operation) remove(i, operation, { entries, results, removals })
    else if (operation.op === 'change') versions.set(operation.path, (versions.get(operation.path) ?? 0) + 1)
    else {
      const { op, path, fails } = operation
      const version = versions.get(path) ?? 0
      const next = op === 'read' || fails ? version : version + 1
      versions.set(path, next)
      const file: SeenFile = {
        path,
        hash: `${path}@${next}`,
        how: op === 'read' ? 'read' : op === 'write' ? 'written' : 'edited',
        ...(op === 'edit' && { before: `${path}@${version}` }),
      }
      entries.push(...round(i, op, fails ? undefined : file, `${path}@${version}`, path))
      results.push(`r${i}`)
    }
  }
  return entries
}

interface Played {
  readonly entries: Entry[]
  readonly results: readonly EntryId[]
  readonly removals: EntryId[]
}

function remove(
  i: number,
  { op, pick }: Extract<Operation, { readonly pick: number }>,
  { entries, results, removals }: Played,
): void {
  const place = { id: `e${i}`, parent: null, at: 0 } as const
  const result = results[pick % Math.max(1, results.length)]
  if (op === 'undo') {
    const target = removals.pop()
    if (target !== undefined) entries.push({ kind: 'void', ...place, target })
    return
  }
  if (op === 'compact') {
    const summary = said(`s${i}`, { role: 'user', content: 'A summary.' }, { part: 'summary' })
    const kept = results[results.length - 1 - (pick % Math.max(1, results.length))]
    const boundary: BoundaryEntry = {
      kind: 'boundary',
      ...place,
      summary: [summary.id],
      keeps: 'tail',
      attachments: [],
      logicalParent: null,
      ...(kept !== undefined &&
        pick % 2 === 0 && {
          kept: { head: kept.replace('r', 'c'), tail: results.at(-1) ?? kept, anchor: summary.id },
        }),
      meta: { trigger: 'auto', preTokens: 1 },
    }
    entries.push(boundary, summary)
    removals.push(place.id)
    return
  }
  if (result === undefined) return
  const standIn = JSON.stringify({
    type: 'tool_result',
    tool_use_id: result.replace('r', 't'),
    content: '[Old tool result content cleared]',
  })
  const replace = op === 'clear' ? [{ at: { entry: result, index: 0 }, with: [standIn] }] : []
  const drop = op === 'drop' ? [result, result.replace('r', 'c')] : []
  entries.push({ kind: 'edit', ...place, cause: 'batch', replace, drop, freedTokens: 1 })
  removals.push(place.id)
}

/** A call and its result. The call says what it does, from which content to which. */
function round(
  i: number,
  op: 'read' | 'write' | 'edit',
  file: SeenFile | undefined,
  from: string,
  name = from.slice(0, 1),
): readonly Entry[] {
  const to = file?.hash ?? from
  const input = { does: file ? `${op}s ${name} ${from} to ${to}` : 'fails' }
  const call: WireMessage = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: `t${i}`, name: 'Tool', input }],
  }
  const content = op === 'read' && file ? `${name} holds ${to}` : 'done'
  const isError = file === undefined
  const result: WireMessage = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: `t${i}`, content, ...(isError ? { is_error: true } : {}) }],
  }
  return [
    said(`c${i}`, call, { origin: 'model' }),
    said(`r${i}`, result, { origin: 'tool', ...(file && { files: [file] }) }),
  ]
}

function said(id: EntryId, message: WireMessage, more: Partial<MessageEntry> = {}): MessageEntry {
  const json = JSON.stringify(message)
  return { kind: 'message', id, parent: null, at: 0, origin: 'user', message, json, ...more }
}
