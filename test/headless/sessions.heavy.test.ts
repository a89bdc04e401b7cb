import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import {
  call,
  createBench,
  jsonObject,
  onlyTranscript,
  put,
  sentBody,
  startsWithAll,
  stringIn,
  text,
  thinking,
  transcriptsOf,
  type Bench,
} from '../kit/headless.ts'

// Sessions that go on: by --continue, by --resume, in a fork. What was sent before is sent again byte for byte and read from the cache.

async function firstTurn(bench: Bench, ...args: string[]): Promise<string> {
  bench.simulator.addSteps([
    { content: [thinking('a file'), call('Read', { file_path: 'a.txt' })] },
    { content: [text('It says hello.')] },
  ])
  await put(join(bench.folder, 'a.txt'), 'hello\n')
  const { out, exit } = await bench.run(['-p', 'what does it say?', '--output-format', 'json', ...args])
  expect(exit).toBe(0)
  return stringIn(jsonObject(out), 'session_id')
}

/** The newest request was accepted, and everything that an earlier one had sent was read from the cache. */
function expectWholePrefix({ simulator }: Bench): void {
  const requests = simulator.requests()
  const [earlier, newest] = requests.slice(-2)
  expect(newest?.status).toBe(200)
  expect(newest?.cache_explanation).toMatchObject({ kind: 'hit' })
  expect(newest?.common_prefix_tokens).toBe(earlier?.input_tokens)
  expect(newest?.usage?.cache_read_input_tokens).toBe(earlier?.input_tokens)
  expect(startsWithAll(newest?.body ?? '', earlier?.body ?? '?')).toBe(true)
}

test('--continue resumes the session used last in this folder, and its prefix is read from the cache', async () => {
  const bench = await createBench()
  const id = await firstTurn(bench)
  bench.simulator.addSteps([{ content: [text('Five letters.')] }])
  const { out, err } = await bench.run(['-p', 'how long is it?', '--continue', '--output-format', 'json'])
  expect(jsonObject(out)).toMatchObject({ session_id: id, result: 'Five letters.' })
  expect(err).toBe('')
  expectWholePrefix(bench)
})

test('--resume ID resumes that session, even if its environment has changed since', async () => {
  const bench = await createBench()
  const id = await firstTurn(bench, '--append-system-prompt', 'Answer in short sentences.')
  await put(join(bench.folder, 'AGENTS.md'), 'New instructions.')
  bench.simulator.addSteps([{ content: [text('Other.')] }, { content: [text('Five letters.')] }])
  await bench.run(['-p', 'another session'])
  const { out } = await bench.run(['-p', 'how long is it?', '--resume', id, '--output-format', 'json'])
  expect(jsonObject(out)).toMatchObject({ session_id: id, result: 'Five letters.' })
  const [, second, , resumed] = bench.simulator.requests()
  expect(resumed?.status).toBe(200)
  expect(resumed?.usage?.cache_read_input_tokens).toBe(second?.input_tokens)
  expect(JSON.stringify(sentBody(bench, 3)['system'])).toContain('Answer in short sentences.')
})

test('the system prompt holds no date, no folder and no state of git; instruction files are in the first user message', async () => {
  const bench = await createBench({ script: [{ content: [text('Yes.')] }] })
  execFileSync('git', ['init', '--quiet', '--initial-branch=unmistakable', bench.folder])
  await put(join(bench.folder, 'AGENTS.md'), 'Speak plainly. @more.md')
  await put(join(bench.folder, 'more.md'), 'Name your sources.')
  await bench.run(['-p', 'hello'])
  const { system, tools, messages } = sentBody(bench)
  const before = JSON.stringify([system, tools])
  const year = String(new Date().getFullYear())
  for (const word of [bench.folder, bench.home, bench.userHome, year, 'unmistakable', 'Speak plainly'])
    expect(before).not.toContain(word)
  const [first] = Array.isArray(messages) ? messages : []
  for (const word of ['Speak plainly', 'Name your sources', bench.folder, year])
    expect(JSON.stringify(first)).toContain(word)
})

test('two sessions in different folders share system prompt and tools, byte for byte', async () => {
  const bench = await createBench({ script: [{ content: [text('A.')], times: 2 }] })
  const other = join(bench.folder, 'other')
  await put(join(other, 'package.json'), '{}')
  await bench.run(['-p', 'hello'])
  await bench.run(['-p', 'hello'], { cwd: other })
  const [first, second] = bench.simulator.requests()
  expect(second?.usage?.cache_read_input_tokens).toBeGreaterThan(1000)
  expect(second?.usage?.cache_read_input_tokens).toBe(first?.usage?.cache_creation?.ephemeral_1h_input_tokens)
})

test('--session-id names the session; a name that is taken or leads out of the folder is refused', async () => {
  const bench = await createBench({ script: [{ content: [text('A.')] }] })
  const id = randomUUID()
  const { exit } = await bench.run(['-p', 'hello', '--session-id', id])
  expect(exit).toBe(0)
  expect((await transcriptsOf(bench)).map((path) => path.endsWith(`/${id}.jsonl`))).toEqual([true])
  const again = await bench.run(['-p', 'hello', '--session-id', id])
  expect(again).toMatchObject({
    exit: 2,
    out: '',
    err: `palimpsest: session ${id} already exists: resume it, or choose another id\n`,
  })
  const outside = await bench.run(['-p', 'hello', '--session-id', '../../evil'])
  expect(outside).toMatchObject({ exit: 2, err: expect.stringContaining('cannot be a session id') })
  expect(bench.simulator.requests()).toHaveLength(1)
})

test('--continue never resumes a session of another folder whose name has the same beginning', async () => {
  const bench = await createBench({ script: [{ content: [text('A secret.')] }] })
  const neighbour = `${bench.folder}-secret`
  await put(join(neighbour, 'x'), '')
  await bench.run(['-p', 'tell me'], { cwd: neighbour })
  const { exit, out, err } = await bench.run(['-p', 'and now?', '--continue'])
  expect({ exit, out }).toEqual({ exit: 2, out: '' })
  expect(err).toMatch(/^palimpsest: no session in this folder.*\n$/)
})

test('a session that is open elsewhere is resumed in a fork, including stored results, and the user is told', async () => {
  const bench = await createBench({
    script: [{ content: [call('Bash', { command: 'seq 1 12000' })] }, { content: [text('Long.')] }],
  })
  await bench.run(['-p', 'count'])
  const id = stringIn((await onlyTranscript(bench))[0] ?? {}, 'sessionId')
  const [stored = ''] = /\/[^\s"\\]*tool-results[^\s"\\]*\.txt/.exec(JSON.stringify(sentBody(bench, 1))) ?? []
  bench.simulator.addSteps([
    { content: [call('Read', { file_path: stored })], when: { bodyContains: 'quickly' } },
    { content: [text('Fork.')], when: { bodyContains: 'quickly' } },
    { content: [text('Slow.')], delay_ms: 60_000 },
  ])
  const first = bench.start(['-p', 'slowly', '--continue', '--output-format', 'stream-json'])
  await first.lines.next()
  const { out, err } = await bench.run(['-p', 'quickly', '--resume', id, '--output-format', 'json'])
  first.child.kill('SIGTERM')
  expect(await first.ended).toMatchObject({ exit: 1 })
  expect(jsonObject(out)).toMatchObject({ result: 'Fork.', is_error: false })
  expect(jsonObject(out)['session_id']).not.toBe(id)
  expect(err).toMatch(
    new RegExp(`^palimpsest: resuming from a fork of ${id}: .*open for writing in process \\d+.*\\n$`),
  )
  const sent = bench.simulator.requests().map((_, i) => JSON.stringify(sentBody(bench, i)['messages']))
  expect(sent.findLast((messages) => messages.includes('quickly'))).toContain('\\t1999')
})

test('a session of Claude Code is resumed in a fork: words kept, foreign thinking left out, the file untouched', async () => {
  const bench = await createBench({
    script: [{ content: [text('It was 42.')] }, { content: [text('Yes.')] }],
  })
  const source = join(bench.userHome, 'theirs.jsonl')
  const lines = claudeCodeSession(bench.folder)
  await put(source, lines)
  await put(join(bench.folder, 'AGENTS.md'), 'Speak plainly.')
  const { exit, out, err } = await bench.run([
    '-p',
    'which number?',
    '--resume',
    source,
    '--output-format',
    'json',
  ])
  expect(exit).toBe(0)
  expect(err).toContain('resuming from a fork of theirs')
  expect(await readFile(source, 'utf8')).toBe(lines)
  const sent = JSON.stringify(sentBody(bench))
  for (const word of [
    'remember the number 42',
    'the file says 42',
    'Noted: 42.',
    'which number?',
    'Speak plainly.',
  ])
    expect(sent).toContain(word)
  expect(sent).not.toContain('their thinking')
  const id = stringIn(jsonObject(out), 'session_id')
  const again = await bench.run(['-p', 'sure?', '--resume', id, '--output-format', 'json'])
  expect(jsonObject(again.out)).toMatchObject({ session_id: id, result: 'Yes.' })
  expectWholePrefix(bench)
})

test('a session of Claude Code in its usual place is found by its id', async () => {
  const bench = await createBench({ script: [{ content: [text('It was 42.')] }] })
  const slug = bench.folder.replaceAll(/[^A-Za-z0-9]/g, '-')
  const id = '0f0e0d0c-0b0a-4908-8706-050403020100'
  await put(join(bench.userHome, '.claude', 'projects', slug, `${id}.jsonl`), claudeCodeSession(bench.folder))
  const { exit, out } = await bench.run(['-p', 'which number?', '--resume', id])
  expect({ exit, out }).toEqual({ exit: 0, out: 'It was 42.\n' })
})

test('only the owner can read what is stored', async () => {
  const bench = await createBench()
  await firstTurn(bench)
  const [path = ''] = await transcriptsOf(bench)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(join(bench.home, 'projects'))).mode & 0o777).toBe(0o700)
  const lines = await onlyTranscript(bench)
  expect(lines.filter(({ type }) => type === 'assistant').map(({ requestId }) => requestId)).toEqual(
    bench.simulator.requests().map(({ id }) => id),
  )
})

/** Invented, in the form that Claude Code has on disk. */
function claudeCodeSession(cwd: string): string {
  const base = {
    isSidechain: false,
    userType: 'external',
    cwd,
    sessionId: '0f0e0d0c-0b0a-4908-8706-050403020100',
    version: '2.1.200',
    gitBranch: '',
  }
  const answer = {
    id: 'msg_theirs',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    stop_sequence: null,
    usage: {
      input_tokens: 4,
      cache_creation_input_tokens: 900,
      cache_read_input_tokens: 0,
      output_tokens: 60,
    },
  }
  const call = { type: 'tool_use', id: 'toolu_theirs', name: 'Read', input: { file_path: '/x/number.txt' } }
  const result = { type: 'tool_result', tool_use_id: 'toolu_theirs', content: 'the file says 42' }
  const turns = [
    { type: 'user', message: { role: 'user', content: 'remember the number 42' } },
    {
      type: 'assistant',
      requestId: 'req_1',
      message: {
        ...answer,
        content: [{ type: 'thinking', thinking: 'their thinking', signature: 'c2ln' }],
        stop_reason: null,
      },
    },
    {
      type: 'assistant',
      requestId: 'req_1',
      message: { ...answer, content: [call], stop_reason: 'tool_use' },
    },
    { type: 'user', message: { role: 'user', content: [result] }, toolUseResult: { type: 'text' } },
    {
      type: 'assistant',
      requestId: 'req_2',
      message: {
        ...answer,
        id: 'msg_theirs_2',
        content: [{ type: 'text', text: 'Noted: 42.' }],
        stop_reason: 'end_turn',
      },
    },
  ]
  const entries = turns.map((turn, i) => ({
    parentUuid: i === 0 ? null : `00000000-0000-4000-8000-00000000000${i - 1}`,
    ...base,
    ...turn,
    uuid: `00000000-0000-4000-8000-00000000000${i}`,
    timestamp: `2026-05-01T10:00:0${i}.000Z`,
  }))
  const summary = { type: 'summary', summary: 'A number', leafUuid: '00000000-0000-4000-8000-000000000004' }
  return [summary, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('')
}
