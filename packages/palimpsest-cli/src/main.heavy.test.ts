import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { afterAll, afterEach, describe, expect, test } from 'vitest'

import { COMMAND, COMPILED } from '../../../test/kit/headless.ts'
import { runInside } from '../../../test/kit/run-inside.ts'

/** What `npm start` runs. */
const SOURCE = [
  process.execPath,
  '--conditions=x-source',
  fileURLToPath(new URL('main.ts', import.meta.url)),
] as const
const home = mkdtempSync(join(tmpdir(), 'palimpsest-cli-'))
const started: ChildProcess[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})

const env = { PALIMPSEST_HOME: join(home, 'kept') }

function start(...args: string[]): ChildProcess {
  return startAs(COMMAND, args)
}

function startAs([program, ...first]: typeof COMMAND | typeof SOURCE, args: readonly string[]): ChildProcess {
  const child = spawn(program, [...first, ...args], {
    cwd: home,
    env: { ...env, NODE_COMPILE_CACHE: COMPILED },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  return child
}

async function finish(child: ChildProcess): Promise<{ exit: number | null; out: string; err: string }> {
  const texts = { out: '', err: '' }
  child.stdout?.on('data', (chunk: Buffer) => (texts.out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (texts.err += chunk.toString()))
  const [exit] = await once(child, 'close')
  return { exit, ...texts }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no stdout')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return line
}

describe('the command', () => {
  test.each([
    ['as a bundle', COMMAND],
    ['from source', SOURCE],
  ])('%s, prints its version and exits cleanly', async (_, command) => {
    const { exit, out, err } = await finish(startAs(command, ['--version']))
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('survives a reader that goes away', async () => {
    const child = start('--help')
    child.stdout?.destroy()
    const { exit, err } = await finish(child)
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
  })

  test.skipIf(!existsSync('/dev/full'))(
    'an output that cannot be written is reported, and the exit code says so',
    async () => {
      const full = openSync('/dev/full', 'w')
      const [program, ...first] = COMMAND
      const stdio = ['ignore', full, 'pipe'] as const
      const child = spawn(program, [...first, '--help'], { cwd: home, env, stdio: [...stdio] })
      closeSync(full)
      started.push(child)
      const { exit, err } = await finish(child)
      expect({ exit, err }).toEqual({
        exit: 1,
        err: 'palimpsest: cannot write the output: no room is left on the disk. Free some space and try again\n',
      })
    },
  )

  test.each([
    [
      ['sim', '--port', 'x'],
      'palimpsest: --port "x": give a number from 0 to 65535; 0 takes any free port\n',
    ],
    [['sim', '--clock', 'sun'], 'palimpsest: --clock "sun": use real or virtual\n'],
    [['sim', '--colour', 'x'], "palimpsest: unknown option '--colour'; `palimpsest sim --help` shows how\n"],
    [['sim', 'now'], 'palimpsest: unexpected argument "now"; `palimpsest sim --help` shows how\n'],
    [
      ['sim', '--script', 'none.json'],
      /^palimpsest: --script \S*none\.json is not a file that can be read\. Give a JSON file: .*\n$/,
    ],
  ])('%j: wrong usage is one line that says what to do, and exit code 2', async (args, line) => {
    const { exit, out, err } = await runInside(args, { cwd: home, env })
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toMatch(line)
    expect(err.split('\n')).toHaveLength(2)
  })

  test('a folder without sessions is an empty list', async () => {
    const ran = await runInside(['sessions', '--json'], { cwd: home, env })
    expect(ran).toEqual({ exit: 0, out: '[]\n', err: '' })
  })
})

describe('palimpsest sim', () => {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'x-api-key': 'any' },
    body: JSON.stringify({
      model: 'claude-sonnet-5-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  }

  test('says where it listens, answers from the script, and exits cleanly when told to', async () => {
    const file = join(home, 'script.json')
    writeFileSync(file, JSON.stringify({ steps: [{ content: [{ type: 'text', text: 'As scripted.' }] }] }))
    const child = start('sim', '--script', 'script.json', '--clock', 'virtual')
    const line = await firstLine(child)
    expect(line).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/)
    const response = await fetch(`${line.replace('listening on ', '')}/v1/messages`, request)
    expect(await response.json()).toMatchObject({ content: [{ type: 'text', text: 'As scripted.' }] })
    child.kill('SIGTERM')
    expect((await once(child, 'close'))[0]).toBe(0)
  })

  test('continues to serve when nobody reads its output', async () => {
    const child = start('sim')
    const url = (await firstLine(child)).replace('listening on ', '')
    child.stdout?.destroy()
    expect((await fetch(`${url}/v1/messages`, request)).status).toBe(200)
  })

  test('a port that is in use is reported, with what to do', async () => {
    const first = start('sim')
    const port = new URL((await firstLine(first)).replace('listening on ', '')).port
    const { exit, out, err } = await finish(start('sim', '--port', port))
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toContain(port)
  })
})
