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
    [['proxy'], /^palimpsest: .*: not built yet\. .*\n$/],
  ])('%j: what is not built says so in one line', async (args, line) => {
    const { exit, out, err } = await run(...args)
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toMatch(line)
    expect(err.split('\n')).toHaveLength(2)
  })
})

test('the spellings of other agents mean the same', async () => {
  const same = [
    ['--allowedTools', '--allowed-tools'],
    ['--disallowedTools', '--disallowed-tools'],
    ['--max-budget-usd', '--max-cost'],
  ]
  for (const [theirs = '', ours = ''] of same) {
    const told = [await run('-p', 'x', `${theirs}=Bash()`), await run('-p', 'x', ours, 'Bash()')]
    expect(told[0]?.err).toMatch(ours)
    expect(told[0]).toEqual(told[1])
  }
  const both = await run('-p', 'x', '--yolo', '--permission-mode', 'plan')
  expect(both.err).toMatch(/cannot be combined/)
})

test('the help of a command says what each flag does, and shows calls', async () => {
  const { out } = await run('recall', '--help')
  expect((await run('help', 'recall')).out).toBe(out)
  expect(out).toMatch(/^Usage: palimpsest recall /)
  expect(out).toMatch(
    /\nOptions:\n[^]* {2}--since DATE +find nothing before this date\n[^]*\nExamples:\n {2}palimpsest recall /,
  )
})
