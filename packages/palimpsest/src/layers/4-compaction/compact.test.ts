import { expect, test } from 'vitest'

import { drive } from '../../drive.ts'
import { said } from '../../../../../test/kit/said.ts'
import type { Entry } from '../../transcript/entry.ts'
import { step, viewOf, type View } from '../../transcript/view.ts'
import { BUILT_IN_FLAGS } from '../../flags/create-flags.ts'
import { resolveModel, NO_MODELS } from '../../tokens/models.ts'
import { compact } from './compact.ts'
import type { CompactResult } from './compaction-setup.ts'
import { NO_HOST } from './compaction-host.ts'
import type { CompactionCause } from './when/decide.ts'

const LINES = 120
const THINKING = { model: '', bindsPrefix: false, readsFrom: [] }

test('a copy keeps what was in view: a stand-in is still a stand-in', async () => {
  const entries = said([{ user: 'go' }, read('a'), read('b'), ...ran(20)])
  const standIn = JSON.stringify({ type: 'tool_result', tool_use_id: 't2', content: 'cleared: gone' })
  const edit: Entry = {
    kind: 'edit',
    id: 'edit',
    parent: null,
    at: 0,
    cause: 'batch',
    replace: [{ at: { entry: 'e3', index: 0 }, with: [standIn] }],
    drop: [],
    freedTokens: 0,
  }
  const pin: Entry = {
    kind: 'pin',
    id: 'pin',
    parent: null,
    at: 0,
    target: { entry: 'e3', index: 0 },
    on: true,
  }
  const before = viewOf([...entries, edit, pin])
  const after = await compacted(before)
  const shown = after.nodes.find((node) => node.entries.includes('e3'))
  expect(shown?.blocks.map(({ json }) => json)).toEqual([standIn])
  expect(shown?.blocks[0]?.original).toBe(false)
})

test('after repeated compactions, copies name the first original and quoted lines are kept', async () => {
  let view = viewOf(said([{ user: 'go' }, read('a'), ...ran(8)]))
  let first = 100
  for (let i = 0; i < 4; i++) {
    view = await compacted(view)
    for (const entry of said(ran(8), first)) view = step(view, entry)
    first += 100
  }
  expect(view.nodes[0]?.source.part).toBe('summary')
  const ids = new Set(view.nodes.flatMap((node) => node.entries))
  expect([...ids].every((id) => !id.startsWith('copy of'))).toBe(true)
  expect(textOf(view)).toContain('export function a_7(')
})

test('nothing is compacted before the first answer', async () => {
  expect(await outcome(viewOf(said([{ user: 'go' }])))).toMatchObject({ kind: 'refused' })
})

test('even if what is kept leaves almost no room, a summary has the essential facts', async () => {
  const failed = { call: 'Bash', input: { command: 'make' }, result: 'error: no rule for x', error: true }
  const large = { call: 'Bash', input: { command: 'cat log' }, result: 'entry of a log\n'.repeat(800) }
  const view = viewOf(said([{ user: 'Fix the build.' }, failed, ...ran(8), large]))
  const tight = { ...setup(), prefixTokens: 8_200, sizeTokens: 14_500 }
  const text = textOf(await compacted(view, { setup: tight, cause: 'threshold' }))
  expect(text).toContain('error: no rule for x')
  expect(text).not.toContain('printed 7')
})

test('a compaction that the user asks for in a full window is not refused for too little gain, however little room there is', async () => {
  const large = { call: 'Bash', input: { command: 'cat log' }, result: 'entry of a log\n'.repeat(800) }
  const view = viewOf(said([{ user: 'Fix the build.' }, ...ran(8), large]))
  const full = { ...setup(), prefixTokens: 8_200, sizeTokens: 14_500 }
  expect(textOf(await compacted(view, { setup: full }))).not.toContain('printed 7')
  // Where there is room, it is not worth it.
  const roomy = { ...full, thresholds: { warning: 16_000, error: 18_000, auto: 20_000, blocking: 22_000 } }
  expect(
    await outcome(view, { setup: { ...roomy, prefixTokens: 10_000, sizeTokens: 14_500 } }),
  ).toMatchObject({
    kind: 'refused',
  })
})

test('a prompt that fills the window up to the threshold still leaves a summary', async () => {
  const failed = { call: 'Bash', input: { command: 'make' }, result: 'error: no rule for x', error: true }
  const view = viewOf(said([{ user: 'Fix the build.' }, failed, ...ran(8)]))
  const filled = { ...setup(), prefixTokens: 12_000, sizeTokens: 16_000 }
  expect(textOf(await compacted(view, { setup: filled, cause: 'threshold' }))).toContain(
    'error: no rule for x',
  )
})

async function compacted(view: View, given: Given = {}): Promise<View> {
  const result = await outcome(view, given)
  if (result.kind !== 'compacted') throw new Error(result.why)
  expect(result.path).toBe('fold')
  const { bodies } = result
  let after = view
  for (const [i, body] of bodies.entries())
    after = step(after, { ...body, id: body.id ?? `more ${view.log.length} ${i}`, parent: null, at: 0 })
  return after
}

interface Given {
  readonly setup?: ReturnType<typeof setup>
  readonly cause?: CompactionCause
}

/** Where no model can be asked. */
async function outcome(
  view: View,
  { setup: own = setup(), cause = 'asked' }: Given = {},
): Promise<CompactResult> {
  let made = 0
  const ports = {
    host: NO_HOST,
    clock: { now: () => 0, sleep: async () => undefined, within: async <T>(work: Promise<T>) => await work },
    newId: () => `made ${view.log.length} ${made++}`,
    trace: () => undefined,
    flags: BUILT_IN_FLAGS,
  }
  const wish = { cause, span: { kind: 'whole' } } as const
  const steps = compact(
    { id: 's', view },
    { wish, setup: own },
    { ...ports, sources: [] },
    new AbortController().signal,
  )
  return await drive(steps)
}

function setup() {
  return {
    facts: resolveModel(NO_MODELS, 'claude-opus-4-5', '').facts,
    source: 'main',
    calibration: { start: 1, samples: [] },
    thinking: THINKING,
    thresholds: { warning: 8_000, error: 10_000, auto: 12_000, blocking: 14_000 },
    scale: 0.15,
    sizeTokens: 14_000,
    prefixTokens: 1_000,
  }
}

function textOf(view: View): string {
  return view.nodes.flatMap((node) => node.blocks.map(({ json }) => json)).join('\n')
}

function read(name: string) {
  const lines = Array.from(
    { length: LINES },
    (_, i) => `export function ${name}_${i}(input: string): string {`,
  )
  return { call: 'Read', input: { file_path: `/p/${name}.ts` }, result: lines.join('\n') }
}

function ran(rounds: number) {
  return Array.from({ length: rounds }, (_, i) => ({
    call: 'Bash',
    input: { command: `step ${i}` },
    result: `printed ${i}\n`.repeat(LINES),
  }))
}
