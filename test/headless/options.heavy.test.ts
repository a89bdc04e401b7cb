import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { call, createBench, jsonLines, jsonObject, put, sentBody, text } from '../kit/headless.ts'

// Flags of a headless run, each seen from outside: in what is sent, in what happens, in how it ends.

test('--max-turns ends the turn after that many answers, and the session continues', async () => {
  const bench = await createBench({
    script: [
      { content: [call('Read', { file_path: 'a.txt' })], times: 2 },
      { content: [text('Two files.')] },
    ],
  })
  const { exit, out } = await bench.run(['-p', 'look', '--max-turns', '2', '--output-format', 'json'])
  expect(exit).toBe(1)
  expect(jsonObject(out)).toMatchObject({
    subtype: 'error_max_turns',
    is_error: true,
    num_turns: 2,
    result: 'the turn reached --max-turns before an answer. Resume the session to continue',
  })
  const next = await bench.run(['-p', 'go on', '--continue'])
  expect(next).toMatchObject({ exit: 0, out: 'Two files.\n', err: '' })
})

test('--max-cost sends no request that would exceed it; a higher limit lets the session continue', async () => {
  const bench = await createBench({
    script: [{ content: [call('Read', { file_path: 'a.txt' })] }, { content: [text('Done.')] }],
  })
  const { exit, err } = await bench.run(['-p', 'look', '--max-cost', '0.001'])
  expect({ exit, err }).toEqual({
    exit: 1,
    err: expect.stringMatching(
      /^palimpsest: the next request costs about \$0\.0\d+, and --max-cost leaves \$0\.0010\. Raise it and resume the session to continue\n$/,
    ),
  })
  expect(bench.simulator.requests()).toEqual([])
  expect(await bench.run(['-p', 'go on', '--continue', '--max-cost', '5'])).toMatchObject({
    exit: 0,
    out: 'Done.\n',
  })
})

test('--max-cost says if it cannot be enforced: a model without a known price', async () => {
  const bench = await createBench({ script: [{ content: [text('Done.')] }] })
  const { err } = await bench.run(['-p', 'look', '--model', 'own-model', '--max-cost', '0.5'])
  expect(err).toContain('no price is known for own-model, so the limit of $0.5 cannot be enforced')
})

test('--window: a prompt that does not fit is refused before it is sent, with the fix', async () => {
  const bench = await createBench()
  const { exit, out, err } = await bench.run(['-p', 'word '.repeat(20_000), '--window', '30000'])
  expect({ exit, out }).toEqual({ exit: 1, out: '' })
  expect(err).toMatch(
    /^palimpsest: The conversation holds about \d+ tokens and the limit is \d+\. There is nothing to compact yet: .*\n$/,
  )
  expect(bench.simulator.requests()).toEqual([])
})

test('--settings, --cwd, --model and the two system prompts take effect', async () => {
  const bench = await createBench({
    script: [{ content: [call('Read', { file_path: 'in.txt' })] }, { content: [text('ok')] }],
  })
  const other = join(bench.folder, 'other')
  await put(join(other, 'in.txt'), 'inside')
  await put(
    join(bench.folder, 'mine.json'),
    JSON.stringify({ permissions: { deny: ['Read(in.txt)'] }, model: 'claude-sonnet-5-5' }),
  )
  const { exit, out, err } = await bench.run([
    ...['-p', 'read', '--cwd', 'other', '--settings', 'mine.json', '--output-format', 'stream-json'],
    ...['--system-prompt', 'You are a parrot.', '--append-system-prompt', 'Repeat everything.'],
  ])
  expect(exit).toBe(0)
  const body = sentBody(bench)
  expect(body['model']).toBe('claude-sonnet-5-5')
  expect(JSON.stringify(body['system'])).toContain('You are a parrot.')
  expect(JSON.stringify(body['system'])).toContain('Repeat everything.')
  expect(JSON.stringify(body['system'])).not.toContain('You are Palimpsest')
  expect(jsonLines(out)[0]).toMatchObject({ cwd: other, model: 'claude-sonnet-5-5' })
  expect(err).toContain('Read is not permitted: the rule Read(in.txt) forbids it.')
})

test.each([
  [['--permission-mode', 'acceptEdits'], ['a.txt']],
  [
    ['--allowed-tools', 'Bash(touch:*),Write'],
    ['a.txt', 'b.txt'],
  ],
  [
    ['--permission-mode', 'bypassPermissions'],
    ['a.txt', 'b.txt', 'c.txt'],
  ],
] as const)('%j: only what is allowed to be written is written', async (flags, written) => {
  const bench = await createBench({
    script: [
      {
        content: [
          call('Write', { file_path: 'a.txt', content: 'a' }),
          call('Bash', { command: 'touch b.txt' }),
          call('Bash', { command: 'cp /etc/hostname c.txt' }),
        ],
      },
      { content: [text('ok')] },
    ],
  })
  const { exit, err } = await bench.run(['-p', 'write', ...flags])
  expect(exit).toBe(0)
  expect(await readdir(bench.folder)).toEqual(written)
  // One line for each call that was denied.
  expect(err.split('\n')).toHaveLength(3 - written.length + 1)
})

test('--debug writes every decision as JSON to stderr, without any text of the conversation', async () => {
  const bench = await createBench({
    script: [{ content: [text('Hello to you.')] }],
    faults: [{ fault: { type: 'status', status: 500 } }],
  })
  const { out, err } = await bench.run(['-p', 'secret words', '--debug'])
  expect(out).toBe('Hello to you.\n')
  const events = err.split('\n').filter((line) => line.startsWith('{'))
  const names = events.map((line) => jsonObject(line)['name'])
  // It is asked beside the turn, and told when it is answered.
  expect(names).toContain('model-list')
  const ofTheTurn = names.filter((name) => name !== 'model-list')
  expect(ofTheTurn).toEqual(['lifetime', 'size-check', 'retry', 'cache-read'])
  expect(err).not.toContain('secret words')
})

test('the prompt comes from stdin, from the command line, or both: first the words, then what is piped', async () => {
  const bench = await createBench({ script: [{ content: [text('ok')], times: 3 }] })
  await bench.run(['-p'], { stdin: 'from a pipe\n' })
  await bench.run(['-p', 'look at this:'], { stdin: 'a log' })
  await bench.run(['-p', '-'], { stdin: 'by a dash' })
  const prompts = [0, 1, 2].map((i) => JSON.stringify(sentBody(bench, i)['messages']))
  expect(prompts[0]).toContain('"from a pipe\\n"')
  expect(prompts[1]).toContain('"look at this:\\n\\na log"')
  expect(prompts[2]).toContain('"by a dash"')
})

test('a run that is told to stop ends its turn, says so, and can be resumed', async () => {
  const bench = await createBench({
    script: [{ content: [text('Never seen.')], delay_ms: 60_000 }, { content: [text('Back.')] }],
  })
  const running = bench.start(['-p', 'slowly', '--output-format', 'stream-json'])
  // Init, environment, prompt: then it waits for the answer.
  for (let line = 0; line < 3; line++) await running.lines.next()
  running.child.kill('SIGINT')
  const { exit, out } = await running.ended
  expect(exit).toBe(1)
  expect(jsonLines(out).at(-1)).toMatchObject({
    type: 'result',
    subtype: 'error_during_execution',
    result: 'stopped. Resume the session to continue',
  })
  expect(await bench.run(['-p', 'and now?', '--continue'])).toMatchObject({
    exit: 0,
    out: 'Back.\n',
    err: '',
  })
})

test('a command that the agent started ends with the run that is told to stop', async () => {
  const bench = await createBench({
    script: [{ content: [call('Bash', { command: 'echo $$ > pid; sleep 60' })] }],
  })
  const stop = new AbortController()
  const running = bench.run(['-p', 'sleep', '--permission-mode', 'bypass'], { signal: stop.signal })
  const pid = await readWhenThere(join(bench.folder, 'pid'))
  stop.abort()
  expect(await running).toMatchObject({ exit: 1 })
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
})

async function readWhenThere(path: string): Promise<string> {
  for (;;) {
    const found = await readFile(path, 'utf8').catch(() => '')
    if (found.endsWith('\n')) return found.trim()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
