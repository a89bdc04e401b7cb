import { describe, expect, test } from 'vitest'

import { runCli } from './run-cli.ts'
import type { World } from '../world.ts'

async function run(...args: string[]): Promise<{ exit: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const world: World = {
    version: '1.2.3',
    env: {},
    cwd: '/nowhere',
    userHome: '/nowhere',
    now: () => 0,
    nodeVersion: 'v24.0.0',
    platform: 'linux',
    readInput: async () => ({ kind: 'none' }),
    print: (text) => (out += text),
    printError: (text) => (err += text),
    signal: new AbortController().signal,
  }
  const exit = await runCli(args, world)
  return { exit, out, err }
}

describe('the command line', () => {
  test('says its version', async () => {
    expect(await run('--version')).toEqual({ exit: 0, out: '1.2.3\n', err: '' })
  })

  test('lists what is built and what is not', async () => {
    const { exit, out, err } = await run('--help')
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/^palimpsest: context and memory for LLM agents\n/)
    expect(out).toMatch(/\nNot built yet:\n {2}proxy /)
  })

  test.each([
    [
      ['Hello.'],
      'palimpsest: the interactive agent needs a terminal. `palimpsest -p "prompt"` runs one turn\n',
    ],
    [['dream'], /^palimpsest: .*: not built yet\. .*\n$/],
  ])('%j: what is not built says so in one line', async (args, line) => {
    const { exit, out, err } = await run(...args)
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toMatch(line)
    expect(err.split('\n')).toHaveLength(2)
  })
})
