import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { createIndexer } from './create-indexer.ts'

let home: string
let folder: string
let traces: string[]

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-indexer-')))
  folder = join(home, 'projects', 'p')
  mkdirSync(folder, { recursive: true })
  traces = []
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const onTrace = (text: string): void => void traces.push(text)

test('a nudge updates the index in a separate thread', async () => {
  writeFileSync(join(folder, 's.jsonl'), '{"type":"summary"}\n')
  const indexer = createIndexer({ home, folder, onTrace })
  indexer.nudge()
  await vi.waitFor(() => expect(existsSync(join(folder, 'index.sqlite'))).toBe(true), 20_000)
  await indexer.close()
  expect(traces).toEqual([])
})

test('a file that fails three times in a row is left alone, with a note', async () => {
  const worker = new URL(`data:text/javascript,throw new Error('no room')`)
  const indexer = createIndexer({ home, folder, onTrace }, worker)
  for (let run = 1; run <= 3; run++) {
    indexer.nudge()
    await vi.waitFor(() => expect(traces).toHaveLength(run), 20_000)
  }
  indexer.nudge()
  await indexer.close()
  const failed = 'the recall index was not updated: Error: no room'
  expect(traces).toEqual([failed, failed, `${failed}; it is left alone until the next start`])
})
