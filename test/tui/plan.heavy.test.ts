import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { call, createBench, text, type Bench } from '../kit/headless.ts'
import { HAS_TMUX, openTerminal, type Terminal } from '../kit/tmux.ts'

// Plan mode, as a person sees it on two sizes of a terminal.

const READY = /left · .*\$\d.* · \S+$/m
const where = HAS_TMUX ? '' : ' (skipped: tmux is not installed)'
const PLAN = `# Rename the egret

1. Rename it in \`a.txt\`.
2. Run the **tests**.`

async function openOn(
  { folder, home, userHome, url }: Bench,
  args: readonly string[],
  size: { readonly columns?: number; readonly rows?: number } = {},
): Promise<Terminal> {
  const env = { PALIMPSEST_HOME: home, HOME: userHome, NO_COLOR: '1', PALIMPSEST_BASE_URL: url }
  return await openTerminal({ folder, env, args: ['--model', 'claude-sonnet-5-5', ...args], ...size })
}

describe.runIf(HAS_TMUX)(`a plan on a terminal${where}`, () => {
  test.each([
    { columns: 80, rows: 24 },
    { columns: 120, rows: 40 },
  ])('of $columns by $rows is shown whole, refused with words, then approved', async (size) => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [call('ExitPlanMode', { plan: PLAN })] },
      { content: [call('ExitPlanMode', { plan: `${PLAN}\n3. Say so.` })] },
      { content: [call('Write', { file_path: 'a.txt', content: 'heron\n' })] },
      { content: [text('Renamed.')] },
    ])
    const terminal = await openOn(bench, [], size)
    await terminal.until(READY)
    await terminal.type('/plan')
    await terminal.press('Enter')
    await terminal.until(/· mode plan: reads only/)
    await terminal.type('Rename the egret')
    await terminal.press('Enter')
    const shown = await terminal.until(/Carry out this plan\?[^]*letter · Esc/)
    const question = shown.slice(shown.indexOf('─── The plan'))
    expect(question.replaceAll(/─{20,}/g, '────').replace(/^\/.*plan\.md$|^\/[^]*?plan\.md$/m, 'PATH')).toBe(
      [
        '─── The plan',
        '',
        'Rename the egret',
        '',
        '1. Rename it in a.txt.',
        '2. Run the tests.',
        '',
        'PATH',
        '',
        '────',
        'Carry out this plan?',
        '▸ (a) Yes, and accept edits',
        '  (y) Yes, and ask for each edit',
        '  (t) No, and tell it what to change',
        '  (n) No',
        '↑↓ Enter, or the letter · Esc',
      ].join('\n'),
    )
    await terminal.type('t')
    await terminal.until(/What should be different\?/)
    await terminal.type('Say so at the end')
    await terminal.press('Enter')
    await terminal.until(/3\. Say so\.[^]*Carry out this plan\?/)
    await terminal.type('a')
    const done = await terminal.until(/Renamed\.[^]*^accept edits · /m)
    expect(done).toContain('● Plan: The user approved the plan.')
    expect(await readFile(join(bench.folder, 'a.txt'), 'utf8')).toBe('heron\n')
    expect(JSON.stringify(bench.simulator.requests().at(-1)?.body)).toContain(
      'The plan is not approved yet: Say so at the end',
    )
  })

  test('is gone on with by whoever left a session in plan mode and resumes it, unless the arguments name a mode', async () => {
    const bench = await createBench()
    const write = call('Write', { file_path: 'b.txt', content: 'heron\n' })
    bench.simulator.addSteps([
      { content: [text('I look.')] },
      { content: [write] },
      { content: [text('Not while we plan.')] },
      { content: [text('So we are done planning.')] },
    ])
    const first = await openOn(bench, [])
    await first.until(READY)
    await first.type('/plan')
    await first.press('Enter')
    await first.until(/· mode plan: reads only/)
    await first.type('Rename the egret')
    await first.press('Enter')
    await first.until(/I look\.[^]*^plan · /m)
    await first.close()
    const again = await openOn(bench, ['--continue'])
    await again.until(/^plan · .*left · /m)
    await again.type('Go on')
    await again.press('Enter')
    await again.until(/Not while we plan\.[^]*^plan · /m)
    await again.close()
    const told = (): string => JSON.stringify(bench.simulator.requests().at(-1)?.body)
    expect(told()).toContain('in plan mode there is no place for')
    expect(told().match(/Plan mode is on/g)).toHaveLength(1)
    const other = await openOn(bench, ['--continue', '--permission-mode', 'default'])
    await other.until(READY)
    await other.type('And now')
    await other.press('Enter')
    const shown = await other.until(/So we are done planning\.[^]*left · /)
    expect(shown).not.toMatch(/^plan · /m)
    expect(told()).toContain('Plan mode is over')
  })
})
