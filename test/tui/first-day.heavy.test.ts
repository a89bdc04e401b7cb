import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { call, createBench, text, type Bench } from '../kit/headless.ts'
import { openInside, type TerminalInside } from '../kit/terminal-inside.ts'

// What somebody wants on the first day, done with what `--help`, `/help` and the screen say, on a terminal of 120 by 40. To install it
// is the tenth: test/packaging.heavy.test.ts.

const MODEL = 'claude-sonnet-5-5'
const OTHER = 'claude-haiku-4-5'
const READY = /^> *\n(?:[a-z ]+ · )?~?\d+% context left/m
const ASKED = /letter · Esc/
/** More than stays in the window. */
const LONG = Array.from({ length: 4_000 }, (_, line) => `line ${line} of what is long`).join('\n')

const SOAKS = process.env['SOAK'] !== undefined
const ANSWERS = [
  { content: [text('It holds one number.')] },
  { content: [call('Read', { file_path: 'a.ts' })] },
  { content: [call('Edit', { file_path: 'a.ts', old_string: 'a = 1', new_string: 'a = 2' })] },
  { content: [text('It is 2 now.')] },
  { content: [call('Edit', { file_path: 'a.ts', old_string: 'a = 2', new_string: 'a = 3' })] },
  { content: [text('Then I leave it.')] },
  { content: [call('Bash', { command: 'deploy site' })] },
  { content: [call('Bash', { command: 'deploy site' })] },
  { content: [text('Deployed twice.')] },
  { content: [call('Bash', { command: 'deploy site' })] },
  { content: [text('Not deployed.')] },
  { content: [call('Bash', { command: 'cat long.txt' })] },
  { content: [text('It was long.')] },
]

async function openBench(): Promise<Bench> {
  const bench = await createBench()
  const deploy = join(bench.userHome, 'bin', 'deploy')
  await mkdir(join(bench.userHome, 'bin'))
  await writeFile(deploy, `#!/bin/sh\necho "$*" >> '${bench.userHome}/calls'\n`)
  await chmod(deploy, 0o755)
  await writeFile(join(bench.folder, 'a.ts'), 'export const a = 1\n')
  await writeFile(join(bench.folder, 'long.txt'), LONG)
  return bench
}

function open(bench: Bench, args: readonly string[]): TerminalInside {
  const env = { PATH: `${join(bench.userHome, 'bin')}:${process.env['PATH'] ?? ''}` }
  return openInside(bench, { env, args, columns: 120, rows: 40 })
}

async function say(terminal: TerminalInside, words: string): Promise<void> {
  await terminal.until(READY)
  terminal.type(words)
  terminal.press('Enter')
}

describe('the first day', () => {
  test('--help leads to the agent and to /help, and /help names everything that is needed', async () => {
    const bench = await createBench()
    const { out } = await bench.run(['--help'])
    expect(out).toMatch(/palimpsest \[prompt\] +start the agent; type \/help in it for its commands\n/)
    expect((await bench.run(['-p', '--help'])).out).toMatch(
      /--resume [^]*pick one from a list\n[^]*--max-cost /,
    )
    const terminal = open(bench, ['--model', MODEL])
    await say(terminal, '/help')
    const shown = await terminal.until(/\/model[^]*^> *\n/m)
    for (const word of ['/permissions', '/model', '/resume', '/context', '/cost', '/memory', '# '])
      expect(shown).toContain(word)
  })

  test.runIf(SOAKS)(
    'nine tasks can be done one after the other, each with what the screen offers',
    { timeout: 600_000 },
    async () => {
      const bench = await openBench()
      bench.simulator.addSteps(ANSWERS)
      const terminal = open(bench, ['--model', MODEL])
      await askAndEdit(terminal, bench)
      await denyWithReason(terminal, bench)
      await allowAndTakeBack(terminal, bench)
      await seeAndRestore(terminal)
      await capTheCost(terminal, bench)
      await addMemory(terminal)
      await changeModel(terminal)
      await say(terminal, '/quit')
      const { exit, err } = await terminal.ended
      expect({ exit, err }).toEqual({
        exit: 0,
        err: expect.stringContaining('to resume: palimpsest --resume'),
      })
      expect(await resume(open(bench, ['--resume']))).toContain('context left')
    },
  )
})

async function askAndEdit(terminal: TerminalInside, { folder }: Bench): Promise<void> {
  await say(terminal, 'What is in a.ts?')
  await terminal.until(/It holds one number\.[^]*^\d+% context left/m)
  await say(terminal, 'Make it 2')
  expect(await terminal.until(ASKED)).toMatch(/- a = 1\n +\+ a = 2\n▸ \(y\) Yes, this once/)
  terminal.type('y')
  await terminal.until(/It is 2 now\.[^]*^\d+% context left/m)
  expect(await readFile(join(folder, 'a.ts'), 'utf8')).toBe('export const a = 2\n')
}

async function denyWithReason(terminal: TerminalInside, { folder, simulator }: Bench): Promise<void> {
  await say(terminal, 'Make it 3')
  expect(await terminal.until(ASKED)).toContain('(t) No, and tell it what to do instead')
  terminal.type('t')
  await terminal.until(/What should it do instead\?[^]*^> *\n/m)
  terminal.type('leave it at 2')
  terminal.press('Enter')
  await terminal.until(/not permitted: leave it at 2[^]*Then I leave it\.[^]*^\d+% context left/m)
  expect(await readFile(join(folder, 'a.ts'), 'utf8')).toBe('export const a = 2\n')
  expect(JSON.stringify(simulator.requests().at(-1)?.body)).toContain('The user says: leave it at 2')
}

async function allowAndTakeBack(terminal: TerminalInside, { userHome }: Bench): Promise<void> {
  await say(terminal, 'Deploy')
  expect(await terminal.until(ASKED)).toContain('(a) Always allow `deploy site`')
  terminal.type('a')
  await terminal.until(/Deployed twice\.[^]*^\d+% context left/m)
  expect(await readFile(join(userHome, 'calls'), 'utf8')).toBe('site\nsite\n')
  await say(terminal, '/permissions')
  await terminal.until(/allow +Bash\(deploy site\) +you chose "always" in this folder/)
  terminal.press('Down')
  await terminal.until(/▸ +allow +Bash\(deploy site\)/)
  terminal.press('Enter')
  await terminal.until(/Remove Bash\(deploy site\)[^]*\(y\) Yes, remove it/)
  terminal.type('y')
  await terminal.until(/· removed: allow Bash\(deploy site\)/)
  await say(terminal, 'Deploy again')
  expect(await terminal.until(ASKED)).toContain('Allow Bash(deploy site)?')
  terminal.type('n')
  await terminal.until(/Not deployed\.[^]*^\d+% context left/m)
}

async function seeAndRestore(terminal: TerminalInside): Promise<void> {
  await say(terminal, 'Read what is long')
  await terminal.until(/It was long\.[^]*^\d+% context left/m)
  await say(terminal, '/context')
  expect(await terminal.until(/Removed from the window[^]*letter · Esc/)).toMatch(
    /compacts in about [\d.]+k tokens │ full in about [\d.]+k tokens[^]*choose one to see, undo or restore it\n▸ \S+ stored/,
  )
  terminal.press('Enter')
  await terminal.until(/Restore it, at the end/)
  terminal.press('Enter')
  await terminal.until(/· restored: \d+ characters, at the end/)
}

async function capTheCost(terminal: TerminalInside, { home }: Bench): Promise<void> {
  await say(terminal, '/cost')
  await terminal.until(/\/cost day 5/)
  await say(terminal, '/cost day 7')
  await terminal.until(/\$7/)
  expect(JSON.parse(await readFile(join(home, 'settings.json'), 'utf8'))).toMatchObject({
    limits: { dailyCostUsd: 7 },
  })
}

async function addMemory(terminal: TerminalInside): Promise<void> {
  await say(terminal, '# Deploy with deploy site')
  await terminal.until(/· memory: added deploy-with-deploy-site/)
  await say(terminal, '/memory')
  await terminal.until(/deploy-with-deploy-site \(project, today\): Deploy with deploy site/)
}

async function changeModel(terminal: TerminalInside): Promise<void> {
  await say(terminal, '/model')
  await terminal.until(/type to search/)
  terminal.type('haiku-4-5')
  await terminal.until(
    /search: haiku-4-5\n▸ claude-haiku-4-5 +window +200k +\$1 in, \$5 out per million tokens/,
  )
  terminal.press('Enter')
  await terminal.until(/Use claude-haiku-4-5\n▸ \(t\) in this conversation/)
  terminal.press('Enter')
  await terminal.until(new RegExp(`context left.* · ${OTHER}`))
}

async function resume(terminal: TerminalInside): Promise<string> {
  expect(await terminal.until(/type to search/)).toMatch(/Which session\?\n.*\n▸ \S+ \S+ +What is in a\.ts\?/)
  terminal.press('Enter')
  return await terminal.until(/^> *\n.*context left/m)
}
