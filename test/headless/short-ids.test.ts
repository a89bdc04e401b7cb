import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { claudeCodeSession } from '../kit/claude-code-session.ts'
import { createInProcess } from '../kit/in-process.ts'

// Screens show the first eight characters of an id. Every command and every flag takes them.

const ONE = '11111111-aaaa-4000-8000-000000000001'
const TWO = '22222222-aaaa-4000-8000-000000000002'
const TWIN = '22222222-bbbb-4000-8000-000000000003'
const short = (id: string): string => id.slice(0, 8)

const root = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-ids-')))
const { run, folder } = await createInProcess(root)
afterAll(() => rmSync(root, { recursive: true, force: true }))

beforeAll(async () => {
  // To such words the offline model answers at once: nothing is searched.
  for (const id of [ONE, TWO, TWIN]) {
    const { exit, err } = await run(['-p', `Hello, the port of ${short(id)} is 4711.`, '--session-id', id])
    if (exit !== 0) throw new Error(err)
  }
})

interface Hit {
  readonly id: string
  readonly session: string
}

test('a session is found by the first eight characters of its id, in every command that takes one', async () => {
  expect(await run(['-p', 'Thanks. And what is the port?', '--resume', short(ONE)])).toMatchObject({
    exit: 0,
  })
  // Too short a conversation to compact: found, and left as it is.
  expect(await run(['compact', '--session', short(ONE)])).toMatchObject({ exit: 1, out: '' })
  expect(JSON.parse((await run(['context', '--session', short(ONE), '--json'])).out)).toMatchObject({
    session: ONE,
  })
  const hits: readonly Hit[] = JSON.parse(
    (await run(['recall', '4711', '--session', short(ONE), '--json'])).out,
  )
  expect(new Set(hits.map(({ session }) => session))).toEqual(new Set([ONE]))
})

test('an ambiguous beginning is reported with all matching ids, and nothing is done', async () => {
  const said = `palimpsest: "22222222" matches 2 sessions: ${TWO}, ${TWIN}. Give more characters of the id\n`
  for (const args of [
    ['context', '--session', short(TWO)],
    ['compact', '--session', short(TWO)],
    ['undo', 'x', '--session', short(TWO)],
    ['pin', 'x', '--session', short(TWO)],
    ['restore', 'x', '--session', short(TWO)],
    ['recall', 'port', '--session', short(TWO)],
    ['-p', 'More', '--resume', short(TWO)],
    ['sessions', 'rm', short(TWO)],
  ])
    expect({ args, ...(await run(args)) }).toEqual({ args, exit: 2, out: '', err: said })
  expect((await run(['context', '--session', `${short(TWO)}-b`, '--json'])).out).toContain(TWIN)
})

test('messages and removals are also found by their first eight characters', async () => {
  writeFileSync(join(folder, 'long.jsonl'), claudeCodeSession(30))
  const resumed = await run([
    '-p',
    'Thanks. Which value?',
    '--resume',
    './long.jsonl',
    '--output-format',
    'json',
  ])
  const { session_id: id }: { readonly session_id: string } = JSON.parse(resumed.out)
  const of = ['--session', short(id)]
  const json = async <Of>(...args: string[]): Promise<Of> =>
    JSON.parse((await run([...args, ...of, '--json'])).out)
  // Ids of the other agent's lines are short themselves; those of ours are long.
  const hits = await json<readonly Hit[]>('recall', 'Which value')
  const message = hits.find((hit) => hit.id.length > 8)?.id ?? ''
  expect((await run(['pin', `${short(message)}:0`, ...of])).out).toBe(`pinned: ${message}:0\n`)
  expect((await run(['pin', short(message), '--off', ...of])).out).toMatch(`no longer pinned: ${message}:0`)
  expect((await run(['restore', short(message), ...of])).out).toMatch(/^restored: /)
  expect(await run(['compact', '--up-to', short(message), ...of])).toMatchObject({ exit: 0 })
  const { removals } = await json<{ readonly removals: readonly Hit[] }>('context')
  const removal = short(removals.at(-1)?.id ?? '')
  const undone = await run(['undo', removal, ...of])
  expect(undone).toMatchObject({ exit: 0, err: '', out: expect.stringMatching(/^undone: /) })
  expect((await run(['undo', removal, ...of])).err).toMatch(/is already undone\n$/)
})

test('fewer than eight characters match nothing', async () => {
  expect(await run(['sessions', 'rm', '1'])).toEqual({
    exit: 2,
    out: '',
    err: 'palimpsest: no session "1"; `palimpsest sessions` lists all\n',
  })
})

test('a session can be deleted by the first eight characters of its id', async () => {
  expect(await run(['sessions', 'rm', short(ONE)])).toEqual({ exit: 0, out: `${ONE}: deleted\n`, err: '' })
})
