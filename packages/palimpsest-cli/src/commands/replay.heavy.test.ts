import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import type { ReplayReport } from 'palimpsest/replay'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { claudeCodeSession } from '../../../../test/kit/claude-code-session.ts'
import { COMMAND, COMPILED } from '../../../../test/kit/headless.ts'
import { runCli } from './run-cli.ts'
import type { World } from '../world.ts'

// What starts threads runs as the built command, whose threads are ready sooner; in this process runs what needs a clock, a terminal or a
// signal of the test's own, and what is refused at once.

/** Rounds of each session. In CI enough that there is something to compact and to compare. */
const ROUNDS = process.env['SOAK']
  ? { one: 12, two: 20, short: 12, new: 12, old: 30 }
  : { one: 5, two: 8, short: 1, new: 1, old: 2 }

const folder = mkdtempSync(join(tmpdir(), 'replay-'))
mkdirSync(join(folder, 'sessions/deep'), { recursive: true })
mkdirSync(join(folder, 'empty'))
writeFileSync(join(folder, 'sessions/one.jsonl'), claudeCodeSession(ROUNDS.one))
writeFileSync(join(folder, 'sessions/deep/two.jsonl'), claudeCodeSession(ROUNDS.two))
// With it a second thread is worth its start.
writeFileSync(join(folder, 'sessions/notes.json'), `{"hello":"${'world '.repeat(20_000)}"}\n`)
writeFileSync(join(folder, 'short.jsonl'), claudeCodeSession(ROUNDS.short))
writeFileSync(join(folder, 'nothing.jsonl'), '')
writeFileSync(join(folder, 'picture.jsonl'), Buffer.from([0x89, 0x50, 0, 0, 1, 2, 3]))
writeFileSync(join(folder, 'prose.jsonl'), 'once upon a time\nthere was a log\n')
putOwn('.claude/projects/p/new.jsonl', claudeCodeSession(ROUNDS.new), 3)
putOwn('.claude/projects/p/idle.jsonl', claudeCodeSession(0).split('\n')[0] ?? '', 2)
putOwn('.palimpsest/projects/q/old.jsonl', claudeCodeSession(ROUNDS.old), 1)
type Marked = { readonly strategy: string; readonly control?: true }
const OWN = ['replay', '--strategy', 'batch', '--window', '20000']
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('palimpsest replay', () => {
  test('the views of a control are refused: it sends nothing', async () => {
    const { code, error } = await run('replay', 'sessions/one.jsonl', '--strategy', 'oracle', '--views', 'v')
    expect({ code, error }).toEqual({
      code: 2,
      error:
        'palimpsest: --views with the control "oracle": a control judges the measure and sends nothing. Name a strategy\n',
    })
  })

  describe('as JSON', () => {
    const args = ['replay', 'sessions', '--window', '20000', '--json']
    const runs: Ran[] = []
    beforeAll(async () => {
      for (let i = 0; i < 2; i++) runs.push(await runBuilt(...args, '--strategy', 'none,oracle'))
    })

    test('prints one document, the same every time, and skips what is not a session', () => {
      const [first, second] = runs
      expect(first?.code).toBe(0)
      expect(first?.out).toBe(second?.out)
      const report: ReplayReport = JSON.parse(first?.out ?? '')
      expect(report.sessions.map(({ session, format, steps }) => ({ session, format, steps }))).toEqual([
        { session: 'deep/two.jsonl', format: 'claude-code', steps: ROUNDS.two + 1 },
        { session: 'one.jsonl', format: 'claude-code', steps: ROUNDS.one + 1 },
      ])
      expect(report.skipped.map(({ file }) => file)).toEqual(['notes.json'])
      expect(report.pooled.strategies[0]).toMatchObject({
        strategy: 'none',
        cost_ratio: 1,
        frr: 1,
        invalid_requests: 0,
        ci: { frr: { low: 1, high: 1 } },
      })
      expect(first?.error).toContain('notes.json: skipped')
    })

    test('a control can be named: it is marked as one and compared with nothing', () => {
      const report: ReplayReport = JSON.parse(runs[0]?.out ?? '')
      for (const rows of [report.pooled.strategies, report.sessions[1]?.strategies ?? []]) {
        const marked: readonly Marked[] = rows
        const names = Map.groupBy(marked, ({ control }) => control === true)
        expect(names.get(false)?.map(({ strategy }) => strategy)).toEqual(['none', 'palimpsest'])
        expect(new Set(names.get(true)?.map(({ strategy }) => strategy))).toEqual(
          new Set(['empty', 'random', 'soup', 'crumbs', 'oracle', 'time-reversed']),
        )
      }
    })

    test.runIf(process.env['SOAK'])('all strategies come out the same every time', async () => {
      expect((await runBuilt(...args)).out).toBe((await runBuilt(...args)).out)
    })
  })

  test('compares all strategies where none is named, in each window', async () => {
    const { out } = await runBuilt('replay', 'short.jsonl', '--window', '20000,40000', '--json')
    const report: ReplayReport = JSON.parse(out)
    expect(report.pooled.window).toBe(20_000)
    expect(report.windows.map(({ window }) => window)).toEqual([20_000, 40_000])
    const rows = report.sessions.flatMap(({ strategies }) => strategies)
    expect(rows.filter(({ window }) => window === 40_000)).toHaveLength(rows.length / 2)
    const names = report.pooled.strategies.filter((row) => row.at === undefined).map((row) => row.strategy)
    expect(names).toEqual([
      'none',
      'drop-oldest',
      'mask-3',
      'mask-10',
      'mask-20',
      'batch',
      'batch+digest',
      'tail-20',
      'tail-50',
      'opencode',
      'gemini-cli',
      'codex',
      'pi',
      'cline',
      'qwen-code',
      'langchain',
      'classic',
      'server-clear',
      'palimpsest-rich',
      'palimpsest',
      'empty',
    ])
    const controls = report.pooled.strategies.filter((row) => row.at === 'batch').map((row) => row.strategy)
    expect(controls).toEqual(['random', 'soup', 'crumbs', 'oracle', 'time-reversed'])
  })

  test('shows the chart, the most expensive steps and what each part contributes, in 80 columns, without colours where nobody looks', async () => {
    const args = ['sessions/deep', '--strategy', 'pi', '--window', '20000', '--ablation']
    const { code, out } = await runBuilt('replay', ...args)
    expect(code).toBe(0)
    expect(out).toContain('Window 20,000 tokens')
    expect(out).toMatch(/^palimpsest /m)
    expect(out).toMatch(/^\(empty\) /m)
    expect(out).toContain('In brackets: a control, which judges the measure and is no strategy.')
    expect(out).toContain(`Size of each request: two.jsonl, ${ROUNDS.two + 1} steps`)
    expect(out).toMatch(/The most expensive of (?:all|palimpsest): palimpsest, step /)
    expect(out).toMatch(/What each part contributes: .*\n +cost +line +edit\nno-storage /)
    expect(out).not.toContain('palimpsest-no-storage')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(out).not.toContain('\u001B')
  })

  test('writes a page and the views of one strategy beside the report, which NO_COLOR leaves without colours and an unknown price without costs', async () => {
    const args = ['sessions/one.jsonl', '--strategy', 'tail-20', '--window', '20000', '--model', 'nobody-1']
    const files = ['--html', 'page.html', '--views', 'views.jsonl']
    const world = { terminal: { columns: 80 }, env: { NO_COLOR: '1' } }
    const { code, out } = await runAs(world, 'replay', ...args, ...files, '--details')
    expect(code).toBe(0)
    // NO_COLOR asks for none.
    expect(out).not.toContain('\u001B')
    expect(out).toContain('Window 20,000 tokens')
    // One session has no interval.
    expect(out).not.toContain('–')
    expect(out).toContain('one.jsonl: no price is known for nobody-1; not included in the cost columns')
    const page = readFileSync(join(folder, 'page.html'), 'utf8')
    expect(page).toMatch(/^<!doctype html>/)
    expect(page).toContain('one.jsonl')
    expect(page).not.toMatch(/<script|src=|url\(|https?:/)
    // As differences.
    const lines = readFileSync(join(folder, 'views.jsonl'), 'utf8').trim().split('\n')
    const views: { [name: string]: unknown }[] = lines.map((line) => JSON.parse(line))
    expect(views).toHaveLength(ROUNDS.one + 1)
    expect(Object.keys(views[0] ?? {})).toEqual([
      'session',
      'strategy',
      'step',
      'message_id',
      'prefix_hash',
      'system',
      'tools',
      'keep',
      'append',
    ])
    expect(views.map((view) => view['step'])).toEqual(Array.from({ length: ROUNDS.one + 1 }, (_, i) => i))
  })

  test("without a file: the user's own sessions, newest first", async () => {
    const { code, out, error } = await runBuilt(...OWN, '--json')
    expect(code).toBe(0)
    const report: ReplayReport = JSON.parse(out)
    expect(report.sessions.map(({ session }) => session)).toEqual([
      'claude-code/p/new.jsonl',
      'palimpsest/q/old.jsonl',
    ])
    expect(report.skipped.map(({ file }) => file)).toEqual(['claude-code/p/idle.jsonl'])
    expect(error).toContain('your own sessions, newest first: 3\n')
    expect(error).toContain('files with nothing to replay: 1; --json names them')
    expect(error).not.toContain('idle.jsonl: skipped')
  })

  test('a long run shows what is known so far; stopped, it reports the sessions that were done, on a terminal in colours and by the verdict', async () => {
    const stop = new AbortController()
    const onError = (text: string): void => {
      if (text.includes(' steps\n')) stop.abort()
    }
    let now = 0
    const world = {
      userHome: join(folder, 'home'),
      now: () => (now += 10_000),
      signal: stop.signal,
      terminal: { columns: 80 },
      onError,
    }
    const { code, out, error } = await runAs(world, ...OWN)
    expect(code).toBe(1)
    expect(error).toMatch(/So far, .* of 3 files at 20,000 tokens:\n +cost +line +edit\nnone +100% +1\.000/)
    expect(out).toContain('\u001B[1m')
    // The verdict, and how to see the rest. Another thread may have ended with the first.
    const shown = stripVTControlCharacters(out)
    const [, done] = /^([12]) sessions?, window 20k: batch costs [^\n]*\n[^\n]*\n[^\n]*\n/.exec(shown) ?? []
    expect(shown).toContain('--details')
    expect(shown).not.toContain('Window 20,000 tokens')
    expect(error).toContain(`stopped; this report covers ${done} of 3 files`)
  })

  test.each([
    [[], 'name recorded sessions, or folders that contain some'],
    [['no-such-folder'], 'no such file or folder: no-such-folder'],
    [['empty'], 'no recorded sessions (*.jsonl, *.json) in empty'],
    [['sessions', '--window', 'wide'], '--window wide: give a number of tokens'],
    [['sessions', '--strategy', 'magic'], 'no strategy "magic"; choose from none, drop-oldest'],
    [['sessions', '--views', 'x'], '--views writes what one strategy sends'],
    [['sessions/one.jsonl', '--strategy', 'batch', '--views', 'no/such/x'], '--views'],
    [['sessions/one.jsonl', '--html', 'no/such/page.html'], '--html'],
  ])('with %j is wrong usage', async (args, sentence) => {
    const { code, out, error } = await run('replay', ...args)
    expect(error).toContain(sentence)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  test('with files that are not sessions is wrong usage, and says why for each', async () => {
    const { code, out, error } = await runBuilt('replay', 'nothing.jsonl', 'picture.jsonl', 'prose.jsonl')
    expect(error).toContain('nothing.jsonl: skipped: the file is empty')
    expect(error).toContain('picture.jsonl: skipped: a binary file')
    expect(error).toContain('prose.jsonl: skipped: not a recorded session')
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

function runBuilt(...args: string[]): Promise<Ran> {
  const [program, main] = COMMAND
  const env = { PATH: process.env['PATH'], HOME: join(folder, 'home'), NODE_COMPILE_CACHE: COMPILED }
  const { promise, resolve } = Promise.withResolvers<Ran>()
  const child = execFile(
    program,
    [main, ...args],
    { cwd: folder, env, maxBuffer: Infinity },
    (_, out, error) => resolve({ code: child.exitCode ?? NaN, out, error }),
  )
  return promise
}

function run(...args: string[]): Promise<Ran> {
  return runAs({}, ...args)
}

async function runAs(
  { onError, ...other }: Partial<World> & { readonly onError?: (text: string) => void },
  ...args: string[]
): Promise<Ran> {
  let out = ''
  let error = ''
  const world: World = {
    version: '0',
    env: {},
    cwd: folder,
    userHome: folder,
    now: () => 0,
    nodeVersion: 'v24.0.0',
    platform: 'linux',
    readInput: async () => ({ kind: 'none' }),
    print: (text) => void (out += text),
    printError: (text) => {
      error += text
      onError?.(text)
    },
    signal: new AbortController().signal,
    ...other,
  }
  const code = await runCli(args, world)
  return { code, out, error }
}

function putOwn(name: string, text: string, seconds: number): void {
  const path = join(folder, 'home', name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  utimesSync(path, seconds, seconds)
}
