import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterAll, expect, test } from 'vitest'

import { loadSession } from './load-session.ts'
import { exportOpencode, listOpencode } from './opencode-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'opencode-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const asked = { role: 'user', time: { created: 1_000 } }
const said = {
  role: 'assistant',
  modelID: 'claude-opus-4-5',
  time: { created: 2_000, completed: 3_000 },
  tokens: { input: 10, output: 5, reasoning: 0, cache: { read: 0, write: 0 } },
}
const question = { type: 'text', text: 'What is in the file?' }
const call = {
  type: 'tool',
  callID: 'c1',
  tool: 'read',
  state: { status: 'completed', input: { filePath: '/a.ts' }, output: 'const a = 1' },
}
const answer = { type: 'text', text: 'A constant.' }

test.each([
  ['a database', makeDatabase('database')],
  ['a tree of files', makeTree('tree')],
])('%s: main sessions are listed, and read as their export would be', async (_, data) => {
  const listed = await listOpencode(data)
  expect(listed.map(({ id }) => id)).toEqual(['ses_1'])
  const [session] = listed
  if (!session) throw new Error('no session')
  expect(session.bytes).toBeGreaterThan(0)
  expect(session.changedAt).toBeGreaterThan(0)
  expect(JSON.parse(await exportOpencode(session))).toMatchObject({
    info: { id: 'ses_1' },
    messages: [
      { info: { id: 'msg_1', ...asked }, parts: [question] },
      { info: { id: 'msg_2', ...said }, parts: [call, answer] },
    ],
  })
  const file = { path: session.store, name: 'x', bytes: session.bytes, opencode: session }
  expect(await loadSession(file, undefined)).toMatchObject({ session: { format: 'opencode' } })
})

test('a session that is in the database and in the files is listed once', async () => {
  makeTree('both')
  writeFileSync(join(folder, 'both/storage/session/p/ses_0.json'), '{"id":"ses_0"}')
  const data = makeDatabase('both')
  const listed = await listOpencode(data)
  expect(listed.map(({ id }) => id)).toEqual(['ses_1', 'ses_0'])
  expect(listed[0]?.store).toBe(join(data, 'opencode.db'))
})

test('a broken database does not hide the files', async () => {
  const data = makeTree('broken')
  writeFileSync(join(data, 'opencode.db'), 'no database')
  expect((await listOpencode(data)).map(({ id }) => id)).toEqual(['ses_1'])
})

test('without opencode, no sessions are found', async () => {
  expect(await listOpencode(join(folder, 'nowhere'))).toEqual([])
})

function makeDatabase(name: string): string {
  const data = join(folder, name)
  mkdirSync(data, { recursive: true })
  const database = new DatabaseSync(join(data, 'opencode.db'))
  database.exec(`
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    INSERT INTO session VALUES ('ses_1', NULL, 5000), ('ses_2', 'ses_1', 6000);`)
  const message = database.prepare('INSERT INTO message VALUES (?, ?, ?, ?)')
  message.run('msg_1', 'ses_1', 1, JSON.stringify(asked))
  message.run('msg_2', 'ses_1', 2, JSON.stringify(said))
  const part = database.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?)')
  part.run('prt_3', 'msg_2', 'ses_1', 3, JSON.stringify(answer))
  part.run('prt_1', 'msg_1', 'ses_1', 1, JSON.stringify(question))
  part.run('prt_2', 'msg_2', 'ses_1', 2, JSON.stringify(call))
  database.close()
  return data
}

function makeTree(name: string): string {
  const data = join(folder, name)
  const write = (path: string, value: object): void => {
    const file = join(data, 'storage', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify(value))
  }
  write('session/p/ses_1.json', { id: 'ses_1' })
  write('session/p/ses_2.json', { id: 'ses_2', parentID: 'ses_1' })
  write('message/ses_1/msg_1.json', asked)
  write('message/ses_1/msg_2.json', said)
  write('part/msg_1/prt_1.json', question)
  write('part/msg_2/prt_2.json', call)
  write('part/msg_2/prt_3.json', answer)
  return data
}
