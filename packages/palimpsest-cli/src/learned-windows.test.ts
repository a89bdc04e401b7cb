import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createLearnLimit, readLearned } from './learned-windows.ts'
import { readWindow } from './window-settings.ts'

const MODEL = 'claude-opus-5-5'
const ENDPOINT = 'https://gateway.example'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'palimpsest-learned-'))
})
afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

function learner(endpoint = ENDPOINT, reports: string[] = []) {
  return createLearnLimit({
    home,
    model: MODEL,
    endpoint,
    readingWith: (models) => readWindow(MODEL, { env: {} }, {}, { models, endpoint }),
    learned: () => undefined,
    report: (problem) => void reports.push(problem),
  })
}

describe('a window that a refusal names', () => {
  test('counts at once, is told once, and is known to the next run at that endpoint alone', async () => {
    const learn = learner()
    const overflow = { kind: 'context-overflow', limit: 50_000, used: 61_000 } as const
    const learned = await learn(overflow, 61_000)
    expect(learned?.notice).toContain('50,000 tokens')
    expect(learned?.thresholds.blocking).toBeLessThan(50_000)
    expect(await learn(overflow, 61_000)).toBeUndefined()
    const models = await readLearned(home)
    const windowAt = (endpoint: string): number =>
      readWindow(MODEL, { env: {} }, {}, { models, endpoint }).window.window
    expect(windowAt(ENDPOINT)).toBe(50_000)
    expect(windowAt('https://api.example')).toBe(1_000_000)
    expect(await readdir(home)).toEqual(['learned-windows.json'])
  })

  test('may be named by the excess alone; the newest counts', async () => {
    const learn = learner()
    await learn({ kind: 'context-overflow', excess: 10_000 }, 90_000)
    await learn({ kind: 'context-overflow', limit: 60_000 }, 90_000)
    expect(JSON.parse(await readFile(join(home, 'learned-windows.json'), 'utf8'))).toEqual({
      learned: { [`${MODEL} ${ENDPOINT}`]: 60_000 },
    })
  })

  test('nothing is learned from what names none, from other failures, or of a window larger than the table says', async () => {
    const learn = learner()
    expect(await learn({ kind: 'context-overflow' }, 90_000)).toBeUndefined()
    expect(await learn({ kind: 'overloaded' }, 90_000)).toBeUndefined()
    expect(await learn({ kind: 'context-overflow', limit: 5_000_000 }, 90_000)).toBeUndefined()
    expect(await readdir(home)).toEqual([])
  })

  test('a damaged file counts as none, and is replaced', async () => {
    await writeFile(join(home, 'learned-windows.json'), '{"learned":{"a b":"x","c d":-1}')
    expect((await readLearned(home)).learned).toEqual({})
    expect(await learner()({ kind: 'context-overflow', limit: 50_000 }, 90_000)).toBeDefined()
    expect((await readLearned(home)).learned).toEqual({ [`${MODEL} ${ENDPOINT}`]: 50_000 })
  })

  test('where it cannot be noted it counts all the same, and the user is told', async () => {
    const reports: string[] = []
    const learn = learner(ENDPOINT, reports)
    await rm(home, { recursive: true })
    expect(await learn({ kind: 'context-overflow', limit: 50_000 }, 90_000)).toBeDefined()
    expect(reports).toHaveLength(1)
  })
})
