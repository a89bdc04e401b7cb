import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { FILE_BYTES_MAX, loadSession } from './load-session.ts'

const folder = mkdtempSync(join(tmpdir(), 'load-session-'))
const path = join(folder, 'one.jsonl')
const line = {
  type: 'user',
  uuid: 'u',
  parentUuid: null,
  sessionId: 's',
  message: { role: 'user', content: 'hi' },
}
writeFileSync(path, `${JSON.stringify(line)}\n`)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a session larger than memory bears is refused with its size', async () => {
  const loaded = await loadSession({ path, name: 'one', bytes: 3 * FILE_BYTES_MAX }, undefined)
  expect(loaded).toEqual({
    why: '300 MB; a replay holds a session in memory and takes files up to 100 MB. Cut it into parts',
  })
})

test('a session in which no model speaks has nothing to replay', async () => {
  const loaded = await loadSession({ path, name: 'one', bytes: 100 }, undefined)
  expect(loaded).toEqual({ why: 'a claude-code file without an answer of a model: nothing to replay' })
})

test('a file that went away is said to be so', async () => {
  const loaded = await loadSession({ path: join(folder, 'gone'), name: 'gone', bytes: 1 }, undefined)
  expect(loaded).toEqual({ why: expect.stringContaining('ENOENT') })
})
