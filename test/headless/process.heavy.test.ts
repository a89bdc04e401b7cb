import { execFile } from 'node:child_process'
import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { INPUT_BYTES_MAX } from '../../packages/palimpsest-cli/src/run/read-input.ts'
import {
  call,
  COMMAND,
  createBench,
  text,
  transcriptsOf,
  type Bench,
  type Ran,
  type RunOptions,
} from '../kit/headless.ts'

// Most tests run the command inside of their own process. What they see is what a user of the real one sees, who has its pipes, its exit
// code and its end.

const SCRIPT = [
  { content: [text('I look.'), call('Bash', { command: 'printf "a\\nb\\n"; exit 3' })] },
  // More than a pipe holds at once, and half of a character at its end.
  { content: [text(`${'word '.repeat(14_000)}\uD83D`)] },
]
const ALLOW = ['--permission-mode', 'bypass']
/** Longer than what a pipe gives at once, and no chunk of it ends where a character does. */
const PIPED = `x${'é😀'.repeat(20_000)}`

interface Case {
  readonly title: string
  readonly args: readonly string[]
  readonly options?: RunOptions
  /** Shows what another case shows, too. */
  readonly isForSoak?: true
}

const CASES: readonly Case[] = [
  { title: 'an answer as text', args: ['-p', 'hello', ...ALLOW], isForSoak: true },
  {
    title: 'an answer as it comes, to words and a long pipe, with all decisions',
    args: ['-p', 'look:', '--debug', '--output-format', 'stream-json', ...ALLOW],
    options: { stdin: PIPED },
  },
  { title: 'an answer as text, a call denied', args: ['-p', 'hello'], isForSoak: true },
  {
    title: 'a prompt that does not fit',
    args: ['-p', 'word '.repeat(20_000), '--window', '30000'],
    isForSoak: true,
  },
  { title: 'wrong usage', args: ['-p', 'hello', '--output-format', 'xml'], isForSoak: true },
  {
    title: 'more than a prompt may hold',
    args: ['-p'],
    options: { stdin: Buffer.alloc(INPUT_BYTES_MAX + 1, 'word ') },
    isForSoak: true,
  },
  {
    title: 'settings of the environment, and a variable that is taken out',
    args: ['doctor'],
    options: { env: { PALIMPSEST_MODEL: 'claude-haiku-5', PALIMPSEST_BASE_URL: undefined } },
  },
]
const CHOSEN = CASES.filter(({ isForSoak }) => process.env['SOAK'] || !isForSoak)

test.each(CHOSEN)('$title: the same inside this process and in one of its own', async ({ args, options }) => {
  const [inside, own] = [await createBench({ script: SCRIPT }), await createBench({ script: SCRIPT })]
  const ran = await inside.run(args, options)
  const started = await own.start(args, options).ended
  expect(told(started, own)).toEqual(told(ran, inside))
  const sent = (bench: Bench): readonly string[] =>
    bench.simulator.requests().map((request) => stripped(JSON.stringify(request), bench))
  expect(sent(own)).toEqual(sent(inside))
})

test('a folder that no longer exists is reported in one line, with the fix', async () => {
  const bench = await createBench()
  const gone = join(await realpath(bench.folder), 'gone')
  await mkdir(gone)
  const standsInGone = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
  const env = {
    PATH: process.env['PATH'],
    PALIMPSEST_HOME: bench.home,
    HOME: bench.userHome,
    PALIMPSEST_MEMORY_EXTRACT: '0',
  }
  const words = ['-c', standsInGone, 'sh', gone, ...COMMAND, '-p', 'hello', '--output-format', 'json']
  await expect(promisify(execFile)('sh', words, { env })).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'palimpsest: the current folder is gone. `cd` to one that exists, and run it again\n',
  })
  expect(await transcriptsOf(bench)).toEqual([])
})

/** Without what is different each time: ids, times, the bench's own places, and how many tokens the random names in them come to. */
function stripped(text: string, { folder, url }: Bench): string {
  return text
    .replaceAll(join(folder, '..'), '/bench')
    .replaceAll(join(folder, '..').replaceAll(/[^a-zA-Z0-9]/g, '-'), '-bench')
    .replaceAll(new URL(url).host, 'simulator')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'uuid')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/\babout \d+ tokens/g, 'about so many tokens')
    .replaceAll(/"(\w*(?:[tT]okens|cost_usd|duration_ms)|main)":[\d.e-]+/g, '"$1":0')
}

/** What is asked beside the turn, such as which models there are, is answered when it is answered: its line may stand anywhere. */
function told(ran: Ran, bench: Bench): Omit<Ran, 'err'> & { readonly err: readonly string[] } {
  return { ...ran, out: stripped(ran.out, bench), err: stripped(ran.err, bench).split('\n').toSorted() }
}
