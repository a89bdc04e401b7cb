import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { call, createBench, text, type Bench } from '../kit/headless.ts'
import { openInside, type TerminalInside } from '../kit/terminal-inside.ts'

// "Always" on a terminal: what the user reads, what is kept, and what runs unasked from then on.

/** A program that counts its calls. */
async function openBench(): Promise<{ readonly bench: Bench; readonly calls: () => Promise<string> }> {
  const bench = await createBench()
  const log = join(bench.userHome, 'calls')
  await mkdir(join(bench.folder, 'app'))
  await mkdir(join(bench.userHome, 'bin'))
  for (const name of ['deploy', 'check']) {
    const program = join(bench.userHome, 'bin', name)
    await writeFile(program, `#!/bin/sh\necho "${name} $*" >> '${log}'\n`)
    await chmod(program, 0o755)
  }
  return { bench, calls: async () => await readFile(log, 'utf8').catch(() => '') }
}

const withBin = (bench: Bench): string => `${join(bench.userHome, 'bin')}:${process.env['PATH'] ?? ''}`

function open(bench: Bench): TerminalInside {
  return openInside(bench, { env: { PATH: withBin(bench) }, args: ['--model', 'claude-sonnet-5-5'] })
}

const question = (screen: string, { folder }: Bench): readonly string[] => {
  const lines = screen
    .replaceAll(/\s*\n {6}(?=\S)/g, ' ')
    .replaceAll(folder, 'FOLDER')
    .split('\n')
  return lines.slice(lines.findLastIndex((line) => line.startsWith('──')) + 1)
}

describe('"always"', () => {
  test('says what it allows and where; only that runs again unasked, in -p too', async () => {
    const { bench, calls } = await openBench()
    bench.simulator.addSteps([
      { content: [call('Bash', { command: 'cd app && check --all && deploy site | head -3' })] },
      { content: [call('Bash', { command: 'sh deploy.sh' })] },
      { content: [text('Deployed.')] },
    ])
    const terminal = open(bench)
    await terminal.until(/^(?:[a-z ]+ · )?~?\d+% context left/m)
    terminal.type('Deploy it')
    terminal.press('Enter')
    expect(question(await terminal.until(/letter · Esc/), bench)).toEqual([
      'Allow Bash(cd app && check --all && deploy site | head -3)? (check: may do',
      'more than read)',
      '    cd app && check --all && deploy site | head -3',
      '▸ (y) Yes, this once',
      '  (a) Always allow `check --all` and `deploy site` in FOLDER/app, exactly as written Bash(check --all), Bash(deploy site)',
      '  (n) No',
      '  (t) No, and tell it what to do instead',
      '↑↓ Enter, or the letter · Esc',
    ])
    terminal.type('a')
    expect(question(await terminal.until(/sh deploy\.sh[\s\S]*letter · Esc/), bench)).toEqual([
      'Allow Bash(sh deploy.sh)? (sh: may do more than read)',
      '    sh deploy.sh',
      '▸ (y) Yes, this once',
      '  (n) No',
      '  (t) No, and tell it what to do instead',
      '↑↓ Enter, or the letter · Esc',
    ])
    terminal.type('n')
    await terminal.until(/Deployed[\s\S]*^>/m)
    terminal.type('/quit')
    terminal.press('Enter')
    expect((await terminal.ended).exit).toBe(0)
    expect(await calls()).toBe('check --all\ndeploy site\n')
    const [kept = ''] = globSync(join(bench.home, 'projects/*/allowed.json'))
    const app = join(bench.folder, 'app')
    expect(JSON.parse(await readFile(kept, 'utf8'))).toEqual({
      allow: ['check --all', 'deploy site'].map((command) => ({
        folder: bench.folder,
        rule: `Bash(${command})`,
        in: app,
      })),
    })
    const others = ['deploy site', 'cd app && deploy', 'cd app && deploy site; check', 'echo x | deploy site']
    const commands = [...others, 'cd app && deploy site']
    bench.simulator.addSteps([
      { content: commands.map((command) => call('Bash', { command })) },
      { content: [text('Tried.')] },
    ])
    const { err } = await bench.run(['-p', 'again'], { env: { PATH: withBin(bench) } })
    expect(err.match(/Bash needs permission/g)).toHaveLength(others.length)
    expect(await calls()).toBe('check --all\ndeploy site\ndeploy site\n')
  })
})
