import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { call, createBench, put, text } from '../kit/headless.ts'
import { HAS_TMUX, openTerminal } from '../kit/tmux.ts'

// A team as a person leads it on a terminal.

const where = HAS_TMUX ? '' : ' (skipped: tmux is not installed)'
const LEADS = { bodyContains: 'You lead a team.' }
const ADA = { bodyContains: 'You are ada, a teammate' }

describe.runIf(HAS_TMUX)(`a team on a terminal${where}`, () => {
  test('shows the teammates, asks before starting one, says what is merged, and ends with a report', async () => {
    const bench = await createBench()
    await put(join(bench.folder, 'a.txt'), 'the egret\n')
    const git = ['-c', 'user.name=A', '-c', 'user.email=a@example.test', '-c', 'init.defaultBranch=main']
    const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
      ['commit', '-qm', 'first'],
    ])
      execFileSync('git', [...git, ...args], { cwd: bench.folder, env })
    const subject = 'Write the list of birds'
    bench.simulator.addSteps([
      { content: [call('TaskCreate', { subject, description: 'In birds.txt.' })], when: LEADS },
      { content: [text('Planned.')], when: LEADS },
      { content: [text('All is done.')], when: LEADS },
      { content: [call('Write', { file_path: 'birds.txt', content: 'heron\n' })], when: ADA },
      { content: [call('TaskUpdate', { task_id: '1', state: 'completed' })], when: ADA },
      { content: [text('Did it.')], when: ADA },
    ])
    const terminal = await openTerminal({
      folder: bench.folder,
      env: { PALIMPSEST_HOME: bench.home, PALIMPSEST_BASE_URL: bench.url, HOME: bench.userHome },
      args: ['team', 'List the birds', '--agents', '1', '--name', 'crew'],
      columns: 100,
      rows: 40,
    })
    await terminal.until(/Allow Write\(birds\.txt\)\? \(ada asks: /)
    await terminal.press('y')
    const shown = await terminal.until(/together +\S+ tokens in[^]*left · /)
    expect(shown).toContain(`Merged: task 1 (${subject}) by ada.`)
    expect(shown).toContain('All is done.')
    expect(shown).toContain('Team crew: 1 of 1 tasks completed')
    expect(await readFile(join(bench.folder, 'birds.txt'), 'utf8')).toBe('heron\n')
    await terminal.type('/quit')
    await terminal.press('Enter')
    await terminal.until(/exit 0/)
  })
})
