import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import {
  call,
  COMMAND,
  COMPILED,
  createBench,
  onlyTranscript,
  put,
  sentBody,
  text,
  type Bench,
} from '../kit/headless.ts'

// What becomes of a tool's result before the model sees it: stored, cut where the disk is full, never empty.

/** More characters than a result may have. */
const LARGE = 'seq 1 20000'
const LARGE_CHARS = 108_893

test('a stored result can be paged through with Read without a question, and what is read is not stored again', async () => {
  const bench = await createBench({ script: [{ content: [call('Bash', { command: LARGE })] }, done()] })
  expect(await bench.run(['-p', 'count', '--permission-mode', 'bypass'])).toMatchObject({ exit: 0, err: '' })
  const [first = ''] = resultTexts(sentBody(bench, 1))
  expect(first).toMatch(/^<persisted-output>\nThis result has 108893 characters in 20000 lines\./)
  expect(first.length).toBeLessThan(3_000)
  const [path = ''] = await storedFiles(bench)
  expect(first).toContain(path)
  expect((await readFile(path, 'utf8')).length).toBe(LARGE_CHARS)

  const page = { file_path: path, offset: 15_000, limit: 3 }
  bench.simulator.addSteps([{ content: [call('Read', page), call('Read', { file_path: path })] }, done()])
  // A call that is denied is told on stderr.
  expect(await bench.run(['-p', 'look at it', '--continue'])).toMatchObject({ exit: 0, err: '' })
  const [, paged = '', whole = ''] = resultTexts(sentBody(bench, -1))
  expect(paged).toMatch(/^ *15000\t15000\n *15001\t15001\n *15002\t15002\n/)
  expect(whole).toMatch(/^ *1\t1\n/)
  expect(whole).not.toContain('<persisted-output>')
  expect(await storedFiles(bench)).toEqual([path])
})

test('a full disk: the result is cut and says so, and the turn continues', async () => {
  const bench = await createBench({
    script: [{ content: [call('Bash', { command: 'seq 1 60000' })] }, done()],
  })
  const { stdout } = await runWithFilesUpTo(FILE_KB_MAX, bench, [
    '-p',
    'count',
    '--permission-mode',
    'bypass',
  ])
  expect(stdout).toBe('done\n')
  const [cut = ''] = resultTexts(sentBody(bench, 1))
  expect(cut).toMatch(/^This result has \d+ characters and could not be stored \(disk-full\)\. /)
  expect(cut).toContain('\n1\n2\n3\n')
  expect(cut.length).toBeLessThan(3_000)
  expect(await storedFiles(bench)).toEqual([])
  expect((await onlyTranscript(bench)).filter(({ subtype }) => subtype === 'stored')).toEqual([])
})

test('storage switched off: the result is sent in full', async () => {
  const bench = await createBench({ script: [{ content: [call('Bash', { command: LARGE })] }, done()] })
  await put(
    join(bench.home, 'flags.json'),
    JSON.stringify({ features: { 'tool-result-storage': { defaultValue: false } } }),
  )
  expect(await bench.run(['-p', 'count', '--permission-mode', 'bypass'])).toMatchObject({ exit: 0, err: '' })
  const [whole = ''] = resultTexts(sentBody(bench, 1))
  expect(whole).toContain('\n19999\n20000')
  expect(await storedFiles(bench)).toEqual([])
})

test('for a command without output or an empty file the result says so', async () => {
  const bench = await createBench({
    script: [
      { content: [call('Bash', { command: 'true' }), call('Read', { file_path: 'empty.txt' })] },
      done(),
    ],
  })
  await put(join(bench.folder, 'empty.txt'), '')
  expect(await bench.run(['-p', 'nothing', '--permission-mode', 'bypass'])).toMatchObject({
    exit: 0,
    err: '',
  })
  const texts = resultTexts(sentBody(bench, 1))
  expect(texts).toHaveLength(2)
  expect(texts.every((one) => one.trim().length > 0)).toBe(true)
})

const done = () => ({ content: [text('done')] })

/** Room for the transcript, not for the result. */
const FILE_KB_MAX = 150

/** The command where no file may become larger: what it writes beyond fails, as on a full disk. */
async function runWithFilesUpTo(
  kilobytes: number,
  { home, userHome, folder, url }: Bench,
  args: readonly string[],
): Promise<{ readonly stdout: string }> {
  const places = {
    PALIMPSEST_MEMORY_EXTRACT: '0',
    PALIMPSEST_HOME: home,
    HOME: userHome,
    PALIMPSEST_BASE_URL: url,
  }
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILED, ...places }
  return await promisify(execFile)(
    'bash',
    ['-c', `ulimit -f ${kilobytes}; exec "$@"`, 'bash', ...COMMAND, ...args],
    { cwd: folder, env },
  )
}

/** Paths of all stored results. */
async function storedFiles({ home }: Bench): Promise<readonly string[]> {
  const names = await readdir(join(home, 'projects'), { recursive: true })
  return names
    .filter((name) => /\/tool-results\/.+\.txt$/.test(name))
    .map((name) => join(home, 'projects', name))
}

/** What the model was shown for each call, in order. */
function resultTexts(body: JsonObject): readonly string[] {
  const messages = Array.isArray(body['messages']) ? body['messages'] : []
  return messages
    .flatMap((message: unknown) => (isJsonObject(message) ? message['content'] : []))
    .flatMap((block: unknown) =>
      isJsonObject(block) && block['type'] === 'tool_result' && typeof block['content'] === 'string'
        ? [block['content']]
        : [],
    )
}
