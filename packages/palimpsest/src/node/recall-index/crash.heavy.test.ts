import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { cases } from '../../../../../test/kit/cases.ts'
import { childFile } from '../../../../../test/kit/child.ts'
import { createIndexer } from './create-indexer.ts'
import { openDatabase } from './index-database.ts'
import { openRecall } from './open-recall.ts'

// Processes that are killed while they index, and processes that index at once.

const CHILD = childFile('indexer')
const FILES = 12
const LINES = 80

let home: string
let folder: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-crash-')))
  folder = join(home, 'projects/p')
  mkdirSync(folder, { recursive: true })
  for (let file = 0; file < FILES; file++) {
    const lines = Array.from({ length: LINES }, (_, i) => {
      const message = { role: 'user', content: `heron number${file}x${i} of the harbour\n`.repeat(3) }
      const line = {
        uuid: `u${file}-${i}`,
        parentUuid: null,
        sessionId: 's',
        timestamp: '2026-01-01T00:00:00Z',
        type: 'user',
        message,
      }
      return `${JSON.stringify(line)}\n`
    })
    writeFileSync(join(folder, `s${file}.jsonl`), lines.join(''))
  }
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function start(): ChildProcess {
  return spawn(process.execPath, [CHILD, home, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function rowsIn(): Promise<readonly object[]> {
  const db = await openDatabase(home, folder)
  const rows = db?.all('SELECT count(*) AS n, count(DISTINCT entry) AS m FROM chunks') ?? []
  db?.close()
  return rows
}

const ALL = [{ n: FILES * LINES, m: FILES * LINES }]

test('an index whose writer was killed can be continued', async () => {
  for (let round = 0; round < cases(2, 100).numRuns; round++) {
    const child = start()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    // Early in some rounds, late in others; the index lies there from the round before.
    await new Promise((resolve) => setTimeout(resolve, (round * 37) % 300))
    child.kill('SIGKILL')
    await ended
    const recall = openRecall({ home, folder })
    // However long it takes here: what is not indexed yet is read.
    const words = `number${round % FILES}x7`
    const { hits } = await recall.search({ words, limit: 3, scanMsMax: 60_000 })
    expect(hits.map(({ id }) => id)).toContain(`u${round % FILES}-7`)
    expect(await recall.update({ sliceBytes: 1 << 20 })).toBe(true)
    recall.close()
    expect(await rowsIn()).toEqual(ALL)
    rmSync(join(folder, 'index.sqlite'), { force: true })
    for (const side of ['-wal', '-shm']) rmSync(join(folder, `index.sqlite${side}`), { force: true })
  }
})

test('processes that index in parallel index every entry once', async () => {
  for (let round = 0; round < cases(1, 20).numRuns; round++) {
    const children = [start(), start(), start()]
    await Promise.all(
      children.map(async (child) => await new Promise((resolve) => child.once('exit', resolve))),
    )
    const recall = openRecall({ home, folder })
    expect(await recall.update()).toBe(true)
    recall.close()
    expect(await rowsIn()).toEqual(ALL)
  }
})

test('the thread of the built command updates the index', async () => {
  const worker = pathToFileURL(join(dirname(inject('bundle')), 'index-worker.js'))
  const traces: string[] = []
  const indexer = createIndexer({ home, folder, onTrace: (text) => void traces.push(text) }, worker)
  indexer.nudge()
  await vi.waitFor(async () => expect(await rowsIn()).toEqual(ALL), { timeout: 60_000, interval: 200 })
  await indexer.close()
  expect(traces).toEqual([])
})
