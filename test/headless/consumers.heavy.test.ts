import { execFile, execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

import { claudeCode } from '@ai-hero/sandcastle'
import { expect, test } from 'vitest'

import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import {
  call,
  COMMAND,
  COMPILED,
  createBench,
  jsonLines,
  jsonObject,
  put,
  stringIn,
  text,
  thinking,
  transcriptsOf,
  type Bench,
} from '../kit/headless.ts'
import { ROOT } from '../kit/source-tree.ts'

// Programs that others wrote around another agent, as they are in the registry: they read our stream and our transcripts, and get from
// them what we mean.

const run = promisify(execFile)
const require = createRequire(import.meta.url)
const MODEL = 'claude-opus-5-5'
const DONE = '<promise>COMPLETE</promise>'

test('an orchestrator of coding agents reads stream-json line by line, and usage from the transcript', async () => {
  const bench = await createBench({
    script: [
      {
        content: [
          thinking('look'),
          text('I look.'),
          call('Bash', { command: 'cat a.txt' }),
          call('Read', { file_path: 'a.txt' }),
        ],
      },
      { content: [text('It says hello.')] },
    ],
  })
  await put(join(bench.folder, 'a.txt'), 'hello\n')
  const consumer = claudeCode(MODEL)
  const { command, stdin = '' } = consumer.buildPrintCommand({
    prompt: 'what does it say?',
    dangerouslySkipPermissions: false,
  })
  const [program, ...args] = command.split(' ').map((word) => word.replaceAll("'", ''))
  expect(program).toBe('claude')
  const { exit, out } = await bench.run(args, { stdin })
  expect(exit).toBe(0)
  const [init] = jsonLines(out)
  expect(out.split('\n').flatMap((line) => consumer.parseStreamLine(line))).toEqual([
    { type: 'session_id', sessionId: init?.['session_id'] },
    { type: 'text', text: 'I look.' },
    { type: 'tool_call', name: 'Bash', args: 'cat a.txt' },
    { type: 'text', text: 'It says hello.' },
    { type: 'result', result: 'It says hello.' },
  ])
  const [path = ''] = await transcriptsOf(bench)
  const usage = bench.simulator.requests().at(-1)?.usage
  expect(consumer.parseSessionUsage?.(await readFile(path, 'utf8'))).toEqual({
    inputTokens: usage?.input_tokens,
    cacheCreationInputTokens: usage?.cache_creation_input_tokens,
    cacheReadInputTokens: usage?.cache_read_input_tokens,
    outputTokens: usage?.output_tokens,
  })
})

test('the same orchestrator runs the command in place of `claude`, and resumes its session', async () => {
  const bench = await createBench({
    script: [
      { content: [text('I write.'), call('Write', { file_path: 'b.txt', content: 'b' })] },
      { content: [text(`Written. ${DONE}`)] },
      { content: [text(`Still here. ${DONE}`)] },
    ],
  })
  const env = await disguise(bench)
  const log = join(bench.userHome, 'run.log')
  const child = join(ROOT, 'test/kit/child-sandcastle.ts')
  const { stdout } = await run(
    process.execPath,
    [child, MODEL, bench.folder, log, 'write it', 'still there?'],
    { env },
  )
  const results: unknown = JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1))
  const [first] = jsonLines(
    (await readFile((await transcriptsOf(bench))[0] ?? '', 'utf8')).split('\n')[0] ?? '',
  )
  const iterations = [{ sessionId: first?.['sessionId'] }]
  expect(results).toEqual([
    { iterations, stdout: `Written. ${DONE}`, completionSignal: DONE },
    { iterations, stdout: `Still here. ${DONE}`, completionSignal: DONE },
  ])
  expect(await readFile(join(bench.folder, 'b.txt'), 'utf8')).toBe('b')
  expect(await readFile(log, 'utf8')).toContain('I write.')
  expect(await transcriptsOf(bench)).toHaveLength(1)
})

/** A PATH whose `claude` is ours, and a home whose `.claude/projects` are ours. */
async function disguise(bench: Bench): Promise<{ readonly [name: string]: string }> {
  const bin = join(bench.userHome, 'bin')
  await put(join(bin, 'claude'), `#!/bin/sh\nexec ${COMMAND.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  await chmod(join(bin, 'claude'), 0o755)
  await mkdir(join(bench.home, 'projects'), { recursive: true })
  await mkdir(join(bench.userHome, '.claude'))
  await symlink(join(bench.home, 'projects'), join(bench.userHome, '.claude', 'projects'))
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-C', bench.folder, ...args], { stdio: 'ignore' })
  git('init', '-q')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '--allow-empty', '-m', 'first')
  return {
    PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
    HOME: bench.userHome,
    NODE_COMPILE_CACHE: COMPILED,
    PALIMPSEST_HOME: bench.home,
    PALIMPSEST_MEMORY_EXTRACT: '0',
    PALIMPSEST_BASE_URL: bench.url,
  }
}

test('a usage counter counts every answer of every session once: tokens by kind, including forks and refusals', async () => {
  const bench = await createBench()
  const look = { content: [thinking('look'), call('Read', { file_path: 'a.txt' })] }
  bench.simulator.addSteps([
    look,
    look,
    { content: [text('Nothing.')] },
    { content: [text('Still nothing.')] },
  ])
  const first = await turn(bench, 'look')
  await turn(bench, 'again', '--continue')
  const [path = ''] = await transcriptsOf(bench)
  bench.simulator.addSteps([
    { content: [text('Forked.')] },
    { content: [text('Elsewhere.')] },
    { content: [text('never')], stop_reason: 'refusal' },
  ])
  const copy = join(bench.userHome, 'copy.jsonl')
  await put(copy, await readFile(path, 'utf8'))
  await turn(bench, 'fork', '--resume', copy)
  const other = join(bench.folder, 'other')
  await mkdir(other)
  await put(join(other, '.git', 'HEAD'), '')
  await turn(bench, 'elsewhere', '--cwd', other)
  await turn(bench, 'refused', '--cwd', other, '--continue')

  const requests = bench.simulator.requests()
  const { tokens } = bench.simulator.stats()
  const { totals } = await countUsage(bench, 'session')
  expect(totals).toMatchObject({
    inputTokens: tokens.uncached,
    outputTokens: tokens.output,
    cacheCreationTokens: tokens.cache_write_5m + tokens.cache_write_1h,
    cacheReadTokens: tokens.cache_read,
  })
  const { blocks } = await countUsage(bench, 'blocks')
  expect(blocks).toMatchObject([{ entries: requests.length, models: [MODEL] }])

  const session = await countUsage(bench, 'session', '--id', stringIn(first, 'session_id'))
  const own = requests.slice(0, 4)
  expect(session['entries']).toMatchObject(
    own.map(({ usage }) => ({
      outputTokens: usage?.output_tokens,
      cacheReadTokens: usage?.cache_read_input_tokens,
    })),
  )
  const { out } = await bench.run(['sessions', '--json'])
  const listed: readonly JsonObject[] = JSON.parse(out)
  const costUsd = own.reduce((sum, request) => sum + request.cost_usd, 0)
  expect(listed.find(({ id }) => id === first['session_id'])?.['cost_usd']).toBeCloseTo(costUsd, 9)
})

async function turn(bench: Bench, ...args: string[]): Promise<JsonObject> {
  const { out } = await bench.run(['-p', ...args, '--output-format', 'json'])
  return jsonObject(out)
}

async function countUsage(bench: Bench, ...args: string[]): Promise<JsonObject> {
  const counter = require.resolve('ccusage')
  const env = { PATH: process.env['PATH'], HOME: bench.userHome, CLAUDE_CONFIG_DIR: bench.home }
  const { stdout } = await run(process.execPath, [counter, ...args, '--json', '--offline'], { env })
  return jsonObject(stdout)
}
