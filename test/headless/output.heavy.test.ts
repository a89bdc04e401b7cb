import { join } from 'node:path'

import { expect, test } from 'vitest'

import {
  call,
  createBench,
  jsonLines,
  jsonObject,
  onlyTranscript,
  put,
  text,
  thinking,
} from '../kit/headless.ts'

// What a headless run prints, in each format, against what the simulator counted and what the transcript holds.

const ROUNDS = [
  {
    content: [
      thinking('look'),
      text('I look.'),
      call('Read', { file_path: 'a.txt' }),
      call('Glob', { pattern: '*' }),
    ],
  },
  { content: [call('Write', { file_path: 'b.txt', content: 'x' })] },
  { content: [text('It says '), text('hello.')] },
]

test('stream-json: init first, every message as it is stored, the result last', async () => {
  const bench = await createBench({ script: ROUNDS })
  await put(join(bench.folder, 'a.txt'), 'hello\n')
  const { exit, out, err } = await bench.run(['-p', 'what does it say?', '--output-format', 'stream-json'])
  const lines = jsonLines(out)
  const [init, ...rest] = lines
  const result = rest.pop()
  const sessionId = init?.['session_id']
  expect(exit).toBe(0)
  expect(init).toEqual({
    type: 'system',
    subtype: 'init',
    session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    model: 'claude-opus-5-5',
    tools: expect.arrayContaining([
      'Read',
      'Write',
      'Edit',
      'Bash',
      'Grep',
      'Glob',
      'WebFetch',
      'TodoWrite',
      'AskUser',
    ]),
    cwd: bench.folder,
    permissionMode: 'default',
  })
  expect(rest.map(({ type }) => type)).toEqual([
    ...['user', 'user', 'assistant', 'user', 'user', 'assistant', 'user', 'assistant'],
  ])
  const stored = (await onlyTranscript(bench)).filter(({ type }) => type === 'user' || type === 'assistant')
  expect(rest).toEqual(
    stored.map(({ type, message, uuid }) => ({
      type,
      message,
      session_id: sessionId,
      parent_tool_use_id: null,
      uuid,
    })),
  )
  const usages = bench.simulator.requests().map(({ usage }) => usage)
  const sum = (
    name: 'input_tokens' | 'output_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens',
  ) => usages.reduce((total, usage) => total + (usage?.[name] ?? 0), 0)
  expect(result).toEqual({
    type: 'result',
    subtype: 'success',
    is_error: false,
    duration_ms: expect.any(Number),
    num_turns: 3,
    result: 'It says hello.',
    session_id: sessionId,
    total_cost_usd: expect.closeTo(bench.simulator.stats().cost_usd, 9),
    cost_by_layer: { main: expect.closeTo(bench.simulator.stats().cost_usd, 9) },
    usage: {
      input_tokens: sum('input_tokens'),
      output_tokens: sum('output_tokens'),
      cache_creation_input_tokens: sum('cache_creation_input_tokens'),
      cache_read_input_tokens: sum('cache_read_input_tokens'),
    },
  })
  // What was denied is told on stderr too, with the flag that allows it.
  expect(err).toContain('--permission-mode accept-edits')
})

test('json: only the result, as one line on stdout', async () => {
  const bench = await createBench({ script: [{ content: [text('Four.')] }] })
  const { exit, out, err } = await bench.run(['-p', '2 + 2?', '--output-format', 'json'])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out.split('\n')).toHaveLength(2)
  expect(jsonObject(out)).toMatchObject({
    type: 'result',
    subtype: 'success',
    is_error: false,
    num_turns: 1,
    result: 'Four.',
  })
})

test('text: only the answer on stdout; a denied call is a line on stderr that names the flag', async () => {
  const bench = await createBench({
    script: [
      { content: [text('I write.'), call('Write', { file_path: 'b.txt', content: 'x' })] },
      { content: [call('Bash', { command: 'rm -rf build' })] },
      { content: [text('I could not.')] },
    ],
  })
  const { exit, out, err } = await bench.run(['-p', 'clean up'])
  expect({ exit, out }).toEqual({ exit: 0, out: 'I could not.\n' })
  expect(err.trimEnd().split('\n')).toEqual([
    "Write needs permission (it changes a file), and nobody can be asked. --permission-mode accept-edits, or --allowed-tools 'Edit(./**)', allows it.",
    expect.stringMatching(
      /^Bash needs permission \(.*\), and nobody can be asked\. --allowed-tools 'Bash\(rm -rf build\)' allows it\.$/,
    ),
  ])
})

test('an answer split by the output limit or a pause is printed in full', async () => {
  const bench = await createBench({
    script: [
      { content: [text('one ')], stop_reason: 'max_tokens' },
      {
        content: [text('two '), { type: 'server_tool_use', name: 'web_search', input: { query: 'three' } }],
        stop_reason: 'pause_turn',
      },
      { content: [text('three')] },
    ],
  })
  const { exit, out } = await bench.run(['-p', 'count'])
  expect({ exit, out }).toEqual({ exit: 0, out: 'one two three\n' })
})

test.each(['text', 'json', 'stream-json'])(
  '%s: a turn that fails says why, with exit code 1',
  async (format) => {
    const bench = await createBench({
      faults: [{ fault: { type: 'status', status: 400, message: 'No such thing.' } }],
    })
    const { exit, out, err } = await bench.run(['-p', 'hello', '--output-format', format])
    expect(exit).toBe(1)
    const problem = 'The provider answered 400: No such thing.'
    if (format === 'text') {
      expect({ out, err }).toEqual({ out: '', err: `palimpsest: ${problem}\n` })
      return
    }
    const result = {
      type: 'result',
      subtype: 'error_during_execution',
      is_error: true,
      num_turns: 0,
      result: problem,
    }
    expect(jsonLines(out).at(-1)).toMatchObject(result)
  },
)

test('stream-json: if the disk fails in the middle of a run, the stream ends with a result, and stderr says why', async () => {
  const bench = await createBench()
  bench.simulator.addSteps([
    { content: [call('Bash', { command: `rm -r ${join(bench.home, 'projects')}` })] },
  ])
  const flags = ['--permission-mode', 'bypass', '--output-format', 'stream-json']
  const { exit, out, err } = await bench.run(['-p', 'forget everything', ...flags])
  expect(exit).toBe(1)
  expect(err).toMatch(/^palimpsest: .*\.jsonl was deleted while it was open\. .*\n$/)
  expect(jsonLines(out).at(-1)).toMatchObject({
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    num_turns: 1,
    result: expect.stringContaining('was deleted while it was open'),
  })
})
