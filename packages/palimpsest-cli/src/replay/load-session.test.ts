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

test('a session too large for memory is refused with its size', async () => {
  const loaded = await loadSession({ path, name: 'one', bytes: 3 * FILE_BYTES_MAX }, undefined)
  expect(loaded).toEqual({
    why: '300 MB; a replay holds a session in memory and takes files up to 100 MB. Split it into parts',
  })
})

test('a session in which no model speaks has nothing to replay', async () => {
  const loaded = await loadSession({ path, name: 'one', bytes: 100 }, undefined)
  expect(loaded).toEqual({ why: 'a claude-code file without an answer from a model: nothing to replay' })
})

test('odd lines are reported with their number, and NUL bytes do not make a file binary', async () => {
  const answer = {
    id: 'm',
    model: 'claude-opus-4-5',
    role: 'assistant',
    content: [{ type: 'text', text: 'ok' }],
  }
  const next = { ...line, type: 'assistant', uuid: 'v', parentUuid: 'u', message: answer }
  const odd = join(folder, 'odd.jsonl')
  writeFileSync(odd, `${JSON.stringify(line)}\0\0${JSON.stringify(next)}\n`)
  const loaded = await loadSession({ path: odd, name: 'odd', bytes: 100 }, undefined)
  expect(loaded).toMatchObject({
    session: { steps: [{ responseId: 'm' }] },
    note: 'read in full, with warnings (line 1: both JSON documents on it were read)',
  })
})

test('a file that has disappeared is reported as such', async () => {
  const loaded = await loadSession({ path: join(folder, 'gone'), name: 'gone', bytes: 1 }, undefined)
  expect(loaded).toEqual({ why: expect.stringContaining('there is no such file or folder') })
})
