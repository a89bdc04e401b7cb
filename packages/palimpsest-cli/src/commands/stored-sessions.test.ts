import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { runCli } from './run-cli.ts'

const CLOSED = { state: 'closed', failures: 0 }
const ID = '0b6f3c1e-0000-4000-8000-000000000001'
const home = mkdtempSync(join(tmpdir(), 'palimpsest-home-'))
const project = join(home, 'work')
const folder = join(home, 'projects', project.replaceAll(/[^A-Za-z0-9]/g, '-'))

mkdirSync(project)
mkdirSync(folder, { recursive: true })
writeFileSync(
  join(folder, `${ID}.jsonl`),
  sessionLines()
    .map((line) => `${JSON.stringify(line)}\n`)
    .join(''),
)

afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})

async function run(
  env: { [name: string]: string },
  ...args: string[]
): Promise<{ exit: number; out: string; err: string }> {
  const texts = { out: '', err: '' }
  const exit = await runCli(args, {
    version: '0.0.0',
    env: { PALIMPSEST_HOME: home, ...env },
    cwd: project,
    userHome: '/nowhere',
    now: () => 0,
    nodeVersion: 'v24.0.0',
    platform: 'linux',
    readInput: async () => ({ kind: 'none' }),
    print: (text) => (texts.out += text),
    printError: (text) => (texts.err += text),
    signal: new AbortController().signal,
  })
  return { exit, ...texts }
}

describe('palimpsest sessions', () => {
  test('titles with terminal escapes are shown, not obeyed', async () => {
    const path = join(folder, '0b6f3c1e-0000-4000-8000-000000000009.jsonl')
    const [first] = sessionLines()
    const message = { role: 'user', content: 'a \u001B]0;b\u0007 \u009B31m c' }
    writeFileSync(path, `${JSON.stringify({ ...first, message })}\n`)
    const [text, json] = [await run({}, 'sessions'), await run({}, 'sessions', '--json')]
    rmSync(path)
    expect(text.out).toContain('a \\x1b]0;b\\x07 \\x9b31m c')
    // oxlint-disable-next-line no-control-regex
    expect(text.out + json.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(JSON.parse(json.out)).toContainEqual(expect.objectContaining({ title: message.content }))
  })

  test('lists what is stored; a response that spans two lines is paid for once', async () => {
    const { exit, out } = await run({}, 'sessions', '--json')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toEqual([
      {
        id: ID,
        project: expect.any(String),
        title: 'What is in the file?',
        started: '2026-01-01T00:00:00.000Z',
        updated: '2026-01-01T00:00:03.000Z',
        messages: 4,
        tokens: 61_050,
        cost_usd: expect.closeTo(COST_USD, 10),
      },
    ])
  })

  test('shows one line each', async () => {
    expect((await run({}, 'sessions')).out).toBe(
      `2026-01-01 00:00  ${ID}  4 messages  61050 tokens  $0.02  What is in the file?\n`,
    )
  })
})

describe('palimpsest context', () => {
  test('is about the last used session of this folder, and has the promised shape', async () => {
    const { exit, out } = await run({}, 'context', '--json')
    expect(exit).toBe(0)
    const document = JSON.parse(out)
    expect(document).toEqual({
      session: ID,
      model: 'claude-sonnet-4-5',
      window: 200_000,
      working: 200_000,
      effective: 180_000,
      room: 177_000,
      used: expect.any(Number),
      used_estimated: true,
      percent_left: expect.any(Number),
      thresholds: { warning: 147_000, error: 157_000, auto: 167_000, blocking: 177_000 },
      flags: { warning: false, error: false, auto: false, blocking: false },
      by_kind: expect.any(Object),
      cache: { hit_rate: expect.closeTo(60_000 / 61_000, 10), breaks: 0 },
      cost_usd: expect.closeTo(COST_USD, 10),
      cost_by_source: { main: expect.closeTo(COST_USD, 10) },
      compactions: { total: 0, by_path: {} },
      breakers: { summaries: CLOSED, refills: CLOSED, notes: CLOSED },
      removals: [],
    })
    expect(document.used).toBeGreaterThan(61_050)
    expect(Object.keys(document.by_kind)).toEqual([
      'system',
      'tools',
      'user',
      'assistant',
      'thinking',
      'tool_results',
      'attachments',
      'summary',
    ])
  })

  test('obeys the window of the environment, and says which value it did not understand', async () => {
    const env = { PALIMPSEST_WINDOW: '60000', PALIMPSEST_BLOCKING_LIMIT: 'much' }
    const { out, err } = await run(env, 'context', '--session', ID, '--json')
    expect(JSON.parse(out)).toMatchObject({
      window: 60_000,
      thresholds: { warning: 44_100, error: 47_100, auto: 50_100, blocking: 53_100 },
      percent_left: 0,
      flags: { warning: true, error: true, auto: true, blocking: true },
    })
    expect(err).toContain('PALIMPSEST_BLOCKING_LIMIT=much is ignored')
  })

  test('shows how much room is left before each threshold', async () => {
    const { out } = await run({}, 'context')
    expect(out).toMatch(/^\S+ {2}claude-sonnet-4-5\n~\d+ of 177000 tokens, \d+% left/)
    expect(out).toMatch(/\n {2}compacts at +167000 {2}in \d+ tokens\n/)
  })

  test.each([
    [['--session', 'none'], 'palimpsest: no session "none"; `palimpsest sessions` lists all\n'],
    [['--session', '../../etc'], /^palimpsest: "\.\.\/\.\.\/etc" cannot be a session id/],
  ])('%j is wrong usage', async (args, text) => {
    const { exit, out, err } = await run({}, 'context', ...args)
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toMatch(text)
  })
})

/** 60,000 read at 0.30, 900 written at 3.75, 100 at 3, 50 out at 15 dollars a million. */
const COST_USD = (60_000 * 0.3 + 900 * 3.75 + 100 * 3 + 50 * 15) / 1_000_000

function sessionLines(): object[] {
  const usage = {
    input_tokens: 100,
    cache_creation_input_tokens: 900,
    cache_read_input_tokens: 60_000,
    output_tokens: 50,
  }
  const answer = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', usage }
  const bodies = [
    { type: 'user', message: { role: 'user', content: 'What is in the file?' } },
    { type: 'assistant', message: { ...answer, content: [{ type: 'text', text: 'I shall look.' }] } },
    {
      type: 'assistant',
      message: { ...answer, content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }] },
    },
    {
      type: 'user',
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'line\n'.repeat(100) }],
      },
    },
  ]
  return bodies.map((body, i) => ({
    parentUuid: i === 0 ? null : `u${i - 1}`,
    isSidechain: false,
    cwd: project,
    sessionId: ID,
    version: '2.0.0',
    uuid: `u${i}`,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, i)).toISOString(),
    ...body,
  }))
}
