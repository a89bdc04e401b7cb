import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { call, createBench, text, type Bench } from '../kit/headless.ts'
import { openInside, type TerminalInside } from '../kit/terminal-inside.ts'

// Plan mode, as a person sees it on two sizes of a terminal.

const READY = /left · .*\$\d.* · \S+$/m
const PLAN = `# Rename the egret

1. Rename it in \`a.txt\`.
2. Run the **tests**.`

function openOn(
  bench: Bench,
  args: readonly string[],
  size: { readonly columns?: number; readonly rows?: number } = {},
): TerminalInside {
  return openInside(bench, { args: ['--model', 'claude-sonnet-5-5', ...args], ...size })
}

async function leave(terminal: TerminalInside): Promise<void> {
  terminal.press('C-c')
  await terminal.until(/Ctrl-C again quits/)
  terminal.press('C-c')
  await terminal.ended
}

describe('a plan on a terminal', () => {
  test.each([
    { columns: 80, rows: 24 },
    { columns: 120, rows: 40 },
  ])('of $columns by $rows is shown completely, refused with words, then approved', async (size) => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [call('ExitPlanMode', { plan: PLAN })] },
      { content: [call('ExitPlanMode', { plan: `${PLAN}\n3. Say so.` })] },
      { content: [call('Write', { file_path: 'a.txt', content: 'heron\n' })] },
      { content: [text('Renamed.')] },
    ])
    const terminal = openOn(bench, [], size)
    await terminal.until(READY)
    terminal.type('/plan')
    terminal.press('Enter')
    await terminal.until(/· mode plan: reads only/)
    terminal.type('Rename the egret')
    terminal.press('Enter')
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
    terminal.type('t')
    await terminal.until(/What should be different\?/)
    terminal.type('Say so at the end')
    terminal.press('Enter')
    await terminal.until(/3\. Say so\.[^]*Carry out this plan\?/)
    terminal.type('a')
    const done = await terminal.until(/Renamed\.[^]*^accept edits · /m)
    expect(done).toContain('● Plan: The user approved the plan.')
    expect(await readFile(join(bench.folder, 'a.txt'), 'utf8')).toBe('heron\n')
    expect(JSON.stringify(bench.simulator.requests().at(-1)?.body)).toContain(
      'The plan is not approved yet: Say so at the end',
    )
  })

  test('continues when a session left in plan mode is resumed, unless the arguments name a mode', async () => {
    const bench = await createBench()
    const write = call('Write', { file_path: 'b.txt', content: 'heron\n' })
    bench.simulator.addSteps([
      { content: [text('I look.')] },
      { content: [write] },
      { content: [text('Not while we plan.')] },
      { content: [text('So we are done planning.')] },
    ])
    const first = openOn(bench, [])
    await first.until(READY)
    first.type('/plan')
    first.press('Enter')
    await first.until(/· mode plan: reads only/)
    first.type('Rename the egret')
    first.press('Enter')
    await first.until(/I look\.[^]*^plan · /m)
    await leave(first)
    const again = openOn(bench, ['--continue'])
    await again.until(/^plan · .*left · /m)
    again.type('Go on')
    again.press('Enter')
    await again.until(/Not while we plan\.[^]*^plan · /m)
    await leave(again)
    const told = (): string => JSON.stringify(bench.simulator.requests().at(-1)?.body)
    expect(told()).toContain('in plan mode there is no place for')
    expect(told().match(/Plan mode is on/g)).toHaveLength(1)
    const other = openOn(bench, ['--continue', '--permission-mode', 'default'])
    await other.until(READY)
    other.type('And now')
    other.press('Enter')
    const shown = await other.until(/So we are done planning\.[^]*left · /)
    expect(shown).not.toMatch(/^plan · /m)
    expect(told()).toContain('Plan mode is over')
  })
})
