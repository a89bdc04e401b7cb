import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { openDatabase } from './index-database.ts'
import { openRecall, type Recall, type RecallSearch } from './open-recall.ts'
import { SHARD_ROWS } from './write-rows.ts'

// An index of six shards, with a hundred rows in each: as if the others had been forgotten.

const SHARDS = 6
const LINES = 100
const DAY_MS = 86_400_000
/** However busy the machine is. */
const LONG_MS = 60_000

let home: string
let recall: Recall

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-large-')))
  const folder = join(home, 'projects', 'p')
  mkdirSync(folder, { recursive: true })
  recall = openRecall({ home, folder })
  for (let shard = 0; shard < SHARDS; shard++) {
    const lines = Array.from({ length: LINES }, (_, i) => lineOf(shard, i))
    const path = join(folder, `s${shard}.jsonl`)
    writeFileSync(path, lines.join(''))
    utimesSync(path, shard + 1, shard + 1)
    await recall.update()
    const db = await openDatabase(home, folder)
    db?.run(`UPDATE counters SET value = ? WHERE name = 'next'`, (shard + 1) * SHARD_ROWS + 1)
    db?.close()
  }
})
afterAll(() => {
  recall.close()
  rmSync(home, { recursive: true, force: true })
})

/** Every line speaks of the harbour and the lantern; one in each session of a heron with a number; gannets and plovers are never near. */
function lineOf(shard: number, i: number): string {
  const bird = i < 48 ? 'gannet' : i > 50 ? 'plover' : ''
  const content = `the harbour has a lantern${i === 50 ? ` and heron${shard}x` : ''}\n${'quay '.repeat(i % 7)}${bird}`
  const timestamp = new Date(Date.UTC(2026, 0, 1) + shard * DAY_MS + i * 1_000).toISOString()
  const message = { role: 'user', content }
  const line = {
    uuid: `e${shard}-${i}`,
    parentUuid: null,
    sessionId: `s${shard}`,
    timestamp,
    type: 'user',
    message,
  }
  return `${JSON.stringify(line)}\n`
}

async function ids(wish: Partial<RecallSearch>): Promise<readonly string[]> {
  return (await recall.search({ words: '', limit: 3, indexMsMax: LONG_MS, ...wish })).hits.map(({ id }) => id)
}

test.each([
  ['a rare word', 'heron2x', 'e2-50'],
  ['a rare word among common ones', 'which lanterns of the harbour were near heron0x', 'e0-50'],
  ['a sequence of words', 'the harbour has a lantern and heron4x', 'e4-50'],
])('%s is found in any shard', async (_what, words, id) => {
  expect((await ids({ words }))[0]).toBe(id)
})

test('a full shard is merged into one piece, and searches find the same', async () => {
  expect(await recall.update({ tidies: true })).toBe(true)
  expect((await ids({ words: 'heron1x in the harbour' }))[0]).toBe('e1-50')
})

test('common words are found even alone', async () => {
  expect(await ids({ words: 'lantern harbour' })).toHaveLength(3)
})

test('a search respects the session and the period, including its end', async () => {
  const sessions = await recall.search({ words: 'lanterns', session: 's3', limit: 50, indexMsMax: LONG_MS })
  expect(new Set(sessions.hits.map(({ session }) => session))).toEqual(new Set(['s3']))
  const since = Date.UTC(2026, 0, 2)
  const until = since + DAY_MS - 1
  expect((await ids({ words: 'lantern', since, until })).every((id) => id.startsWith('e1-'))).toBe(true)
  expect(await ids({ since, until })).toEqual(['e1-99', 'e1-98', 'e1-97'])
  expect(await ids({ words: 'lantern', session: 'nobody' })).toEqual([])
})

test('if every word is in very many rows, rows with two of them are found, or if there are none, rows with one', async () => {
  const db = await openDatabase(home, join(home, 'projects', 'p'))
  for (const term of ['gannet', 'plover', 'lantern'])
    db?.run('INSERT OR REPLACE INTO heavy SELECT id, ?, 5000 FROM shards WHERE sealed > 0', term)
  db?.close()
  // The newest shard is not full: all its words count.
  const until = Date.UTC(2026, 0, SHARDS) - 1
  const found = await recall.search({ words: 'gannet lantern', until, limit: 50, indexMsMax: LONG_MS })
  expect(found.hits.length).toBeGreaterThan(0)
  expect(found.hits.filter(({ quote }) => !quote.includes('lantern') && !quote.includes('gannet'))).toEqual(
    [],
  )
  expect((await ids({ words: 'gannet plover', until, scanMsMax: 0 })).length).toBeGreaterThan(0)
})
