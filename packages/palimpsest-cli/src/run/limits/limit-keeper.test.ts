import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { TraceEvent } from 'palimpsest'
import type { Refusal } from 'palimpsest/loop'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { readModels } from '../models/known-models.ts'
import { readWindow } from '../window-settings.ts'
import { createLimitKeeper } from './limit-keeper.ts'
import { LIMIT_MS_MAX, readLimits } from './limits-file.ts'

const MODEL = 'claude-opus-5-5'
const ENDPOINT = 'https://gateway.example'
const SAID = 'prompt is too long: 61000 tokens > 50000 maximum'

let home = ''
let now = 1_800_000_000_000
let traces: TraceEvent[] = []
let reports: string[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'palimpsest-limits-'))
  now = 1_800_000_000_000
  traces = []
  reports = []
})
afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

function keeper(endpoint = ENDPOINT) {
  return createLimitKeeper({
    home,
    model: MODEL,
    endpoint,
    readingWith: (learned) =>
      readWindow(MODEL, { env: {} }, {}, { models: { reported: {}, learned }, endpoint }),
    changed: () => undefined,
    now: () => now,
    trace: (event) => void traces.push(event),
    report: (problem) => void reports.push(problem),
  })
}

function refusal(more: Partial<Refusal> = {}): Refusal {
  return {
    failure: { kind: 'context-overflow', limit: 50_000, used: 61_000 },
    said: SAID,
    sentTokens: 61_000,
    outputTokens: 32_000,
    prefixTokens: 9_000,
    answeredTokens: 0,
    isRepeated: false,
    ...more,
  }
}

async function windowAt(endpoint: string): Promise<number> {
  const models = await readModels(home, endpoint, now)
  return readWindow(MODEL, { env: {} }, {}, { models, endpoint }).window.window
}

describe('a window that a refusal names', () => {
  test('counts at once, is reported once, and is known to the next run, at that endpoint only', async () => {
    const limits = keeper()
    const verdict = await limits.refused(refusal())
    expect(verdict).toMatchObject({ kind: 'learned', learned: { windowTokens: 50_000 } })
    expect(verdict.kind === 'learned' && verdict.learned.notice).toContain('50,000 tokens')
    expect(await limits.refused(refusal())).toMatchObject({ kind: 'nothing' })
    expect([await windowAt(ENDPOINT), await windowAt('https://api.example')]).toEqual([50_000, 1_000_000])
    expect((await readLimits(home, now)).learned).toEqual({
      [`${MODEL} ${ENDPOINT}`]: { tokens: 50_000, at: now, said: SAID },
    })
  })

  test('counts for a day', async () => {
    await keeper().refused(refusal())
    now += LIMIT_MS_MAX - 1
    expect(await windowAt(ENDPOINT)).toBe(50_000)
    now += 1
    expect(await windowAt(ENDPOINT)).toBe(1_000_000)
  })

  test.each<[string, Partial<Refusal>]>([
    ['answered', { answeredTokens: 50_000 }],
    ['no-room', { prefixTokens: 48_000 }],
    ['tiny', { failure: { kind: 'context-overflow', limit: 4 } }],
    ['not-over', { failure: { kind: 'context-overflow', limit: 500_000 } }],
  ])('is doubted and noted nowhere, because of %s; the trace says so', async (why, more) => {
    expect(await keeper().refused(refusal(more))).toMatchObject({ kind: 'doubted', why })
    expect(await readdir(home)).toEqual([])
    expect(traces).toMatchObject([{ name: 'limit', reason: why }])
  })

  test('is believed despite larger answered requests once it is repeated, but not where nothing fits into it', async () => {
    const limits = keeper()
    const twice = await limits.refused(refusal({ answeredTokens: 60_000, isRepeated: true }))
    expect(twice.kind).toBe('learned')
    const unfit = await keeper('https://b.example').refused(
      refusal({ prefixTokens: 48_000, isRepeated: true }),
    )
    expect(unfit).toMatchObject({ kind: 'doubted', why: 'no-room' })
  })

  test('is forgotten when a request of that size is answered', async () => {
    const limits = keeper()
    await limits.refused(refusal())
    expect(await limits.answered(49_999)).toBeUndefined()
    expect(await limits.answered(50_000)).toMatchObject({ windowTokens: 1_000_000 })
    expect(await windowAt(ENDPOINT)).toBe(1_000_000)
    expect(await keeper().refused(refusal())).toMatchObject({ kind: 'doubted', why: 'answered' })
  })

  test('is also refuted by what another session was answered, for a day', async () => {
    await keeper().answered(120_000)
    expect(await keeper().refused(refusal())).toMatchObject({ kind: 'doubted', why: 'answered' })
    now += LIMIT_MS_MAX
    expect((await keeper().refused(refusal())).kind).toBe('learned')
  })

  test('answered sizes are written down only rarely', async () => {
    const limits = keeper()
    const contents = new Set<string>()
    for (let tokens = 10_000; tokens < 100_000; tokens += 1_000) {
      await limits.answered(tokens)
      contents.add(await readFile(join(home, 'learned-windows.json'), 'utf8'))
    }
    expect(contents.size).toBeLessThan(15)
  })

  test('nothing is learned from a refusal that names no window, or one larger than in the table', async () => {
    expect(await keeper().refused(refusal({ failure: { kind: 'context-overflow' } }))).toMatchObject({
      kind: 'nothing',
    })
    const large = { kind: 'context-overflow', limit: 5_000_000 } as const
    expect((await keeper().refused(refusal({ failure: large, sentTokens: 4_999_999 }))).kind).toBe('nothing')
    expect(await readdir(home)).toEqual([])
  })

  test.each([
    ['damaged', '{"learned":{"a b":"x","c d":-1}'],
    ['of a form that kept limits permanently', `{"learned":{"${MODEL} ${ENDPOINT}":4097}}`],
    ['from the future', `{"learned":{"${MODEL} ${ENDPOINT}":{"tokens":4097,"at":9e15,"said":"x"}}}`],
    ['something else', '[]'],
  ])('a file that is %s counts as none, and is replaced', async (_what, text) => {
    await writeFile(join(home, 'learned-windows.json'), text)
    expect(await windowAt(ENDPOINT)).toBe(1_000_000)
    expect((await keeper().refused(refusal())).kind).toBe('learned')
    expect(await windowAt(ENDPOINT)).toBe(50_000)
  })

  test('where it cannot be stored it still counts, and the user is told', async () => {
    await rm(home, { recursive: true })
    expect((await keeper().refused(refusal())).kind).toBe('learned')
    expect(reports).toHaveLength(1)
  })
})
