import { mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { call, put, text } from '../kit/headless.ts'
import { openInside, type InsideOptions, type TerminalInside } from '../kit/terminal-inside.ts'

// What a person sees, on two sizes of a terminal. Each picture is a file: whoever changes what is shown reads it there.

const MODEL = 'claude-sonnet-5-5'
/** Below the input stands what is left of the window: nothing is asked, and nothing goes on. */
const READY = /^> *\n(?:.* · )?~?\d+% context left/m
const ASKED = /letter · Esc|to search/
const TODOS = [
  { content: 'Read the file', status: 'completed', activeForm: 'Reading the file' },
  { content: 'Change it', status: 'in_progress', activeForm: 'Changing it' },
  { content: 'Run the tests', status: 'pending', activeForm: 'Running the tests' },
]
const TABLE =
  '| file | lines | what it holds |\n| --- | ---: | --- |\n| a.ts | 1 | one number |\n| b.ts | 12 | **two** of them |'

interface Stage {
  readonly bench: CommandBench
  readonly open: (options?: InsideOptions) => TerminalInside
  /** Without what is different every time. */
  readonly masked: (screen: string) => string
  readonly file: (name: string) => string
}

type Steps = NonNullable<NonNullable<Parameters<typeof createCommandBench>[0]>['script']>

async function setStage(
  size: { readonly columns: number; readonly rows: number },
  script: Steps,
): Promise<Stage> {
  // Not where temporary files usually are: how long a path is decides where lines break.
  const root = await realpath(await mkdtemp('/tmp/palimpsest-screen-'))
  const bench = await createCommandBench({ root, script })
  await writeFile(join(bench.folder, 'a.ts'), 'export const a = 1\n')
  const masked = (screen: string): string =>
    `${screen
      .replaceAll(bench.url, 'http://127.0.0.1:PORT')
      .replaceAll(root.slice('/tmp/palimpsest-screen-'.length), 'XXXXXX')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
      .replaceAll(/\b[0-9a-f]{8}\b/g, 'ID')
      .replaceAll(/~?\$\d+\.\d+/g, '$N')
      .replaceAll(/~?\b\d+(?:\.\d+)?(?: ms| s| min \d+ s)(?=\W|$)/gm, 'TIME')
      .replaceAll(/~?\b\d+(?:\.\d+)?(k|%)(?=\W|$)/gm, 'N$1')
      .replaceAll(/\b\d\d:\d\d\b/g, 'HH:MM')
      // Counts of tokens, which the machine's name and the like are part of.
      .replaceAll(/\b\d{4}(?= (?:prompt )?tokens)/g, 'N')
      .replaceAll(/^ {2}[█▒].*(?:\n {2}[█▒▚▓].*)+$/gm, (rows) =>
        rows.replaceAll(/\d+/g, 'N').replaceAll(/ +/g, ' '),
      )}\n`
  return {
    bench,
    open: (options) => openInside(bench, { args: ['--model', MODEL], ...size, ...options }),
    masked,
    file: (name) => `screens/${size.columns}x${size.rows}/${name}.txt`,
  }
}

async function say(terminal: TerminalInside, words: string): Promise<void> {
  await terminal.until(READY)
  terminal.type(`${words}\r`)
}

/** The screen when the input waits again behind this, and nothing goes on any more. */
async function idleAfter(terminal: TerminalInside, words: string): Promise<string> {
  return await terminal.until(new RegExp(`^(?![^]*✻ )[^]*${words}[^]*\\n> *\\n(?:.* · )?\\d+% context left`))
}

describe.each([
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
])('on a terminal of $columns by $rows', (size) => {
  test('the start says which model it asks, what it reads, and what it cannot do without a key', async () => {
    const { bench, open, masked, file } = await setStage(size, [])
    await writeFile(join(bench.folder, 'AGENTS.md'), '# Rules\n\nUse tabs.\n')
    await expect(masked(await open().until(READY))).toMatchFileSnapshot(file('start'))
    const offline = open({ args: [], env: { PALIMPSEST_BASE_URL: undefined } })
    await expect(masked(await offline.until(READY))).toMatchFileSnapshot(file('start-offline'))
  })

  test('a list of tasks, a command with its exit code, a diff, an answered question, a table', async () => {
    const { open, masked, file } = await setStage(size, [
      { content: [call('TodoWrite', { todos: TODOS }), call('Read', { file_path: 'a.ts' })] },
      { content: [call('Bash', { command: 'seq 30; exit 3' })] },
      { content: [call('Edit', { file_path: 'a.ts', old_string: 'a = 1', new_string: 'a = 2' })] },
      {
        content: [
          call('AskUser', {
            question: 'Which name shall it have?',
            options: [{ label: 'count', description: 'as elsewhere' }, { label: 'total' }],
          }),
        ],
      },
      { content: [text(`Done:\n\n${TABLE}`)] },
    ])
    // Where nothing is sandboxed, it would be asked about.
    const allowed = ['--allowed-tools', 'Bash(seq 30)', 'Bash(exit 3)']
    const terminal = open({ args: ['--model', MODEL, ...allowed] })
    await say(terminal, 'Make it 2')
    await expect(masked(await terminal.until(/a\.ts\)\?[^]*letter · Esc/))).toMatchFileSnapshot(
      file('asked-edit'),
    )
    terminal.type('y')
    await expect(masked(await terminal.until(/Which name[^]*Esc/))).toMatchFileSnapshot(file('asked-user'))
    terminal.press('Enter')
    await expect(masked(await idleAfter(terminal, 'two of them'))).toMatchFileSnapshot(file('turn'))
  })

  test('a command is shown while it prints; one that needs keys is refused; one in the background is listed', async () => {
    const { bench, open, masked, file } = await setStage(size, [
      { content: [call('Bash', { command: 'vim a.ts' })] },
      {
        content: [
          call('Bash', {
            command: 'echo up; while [ ! -e stop ]; do sleep 0.05; done',
            run_in_background: true,
          }),
        ],
      },
      { content: [call('Bash', { command: 'seq 12; while [ ! -e go ]; do sleep 0.05; done; echo end' })] },
      { content: [text('All of it ran.')] },
    ])
    const terminal = open({ args: ['--model', MODEL, '--permission-mode', 'bypass'] })
    await say(terminal, 'Run them')
    await expect(masked(await terminal.until(/Esc interrupts\n[^]*^ +12$/m))).toMatchFileSnapshot(
      file('running'),
    )
    await writeFile(join(bench.folder, 'go'), '')
    await expect(masked(await idleAfter(terminal, 'All of it ran'))).toMatchFileSnapshot(file('ran'))
    await say(terminal, '/tasks')
    await expect(masked(await terminal.until(/Background tasks[^]*Esc/))).toMatchFileSnapshot(file('tasks'))
    terminal.press('Enter')
    await expect(masked(await terminal.until(/^ {2}up\n[^]*End it/m))).toMatchFileSnapshot(file('task'))
    terminal.type('e')
    expect(await idleAfter(terminal, 'shell_1 was ended')).toMatch(/^bypass · \d+% context left/m)
  })

  test('rules are listed, added and removed; no can say what to do instead; a key changes modes', async () => {
    const { bench, open, masked, file } = await setStage(size, [
      { content: [call('Write', { file_path: 'b.ts', content: 'export const b = 1\n' })] },
      { content: [text('Then I do not.')] },
    ])
    await put(
      join(bench.home, 'settings.json'),
      '{"permissions":{"allow":["Bash(npm test)"],"ask":["Bash(git push:*)"],"deny":["Read(./.env)"]}}',
    )
    const terminal = open()
    await say(terminal, 'Write b.ts')
    await expect(masked(await terminal.until(ASKED))).toMatchFileSnapshot(file('asked-write'))
    terminal.type('t')
    await terminal.until(/What should it do instead\?/)
    terminal.type('Put it into a.ts\r')
    await expect(masked(await idleAfter(terminal, 'Then I do not'))).toMatchFileSnapshot(file('denied'))
    await say(terminal, '/permissions add Bash(make:*)')
    await terminal.until(/make:\*[^]*^> *\n/m)
    await say(terminal, '/permissions')
    await expect(masked(await terminal.until(/git push[^]*Esc/))).toMatchFileSnapshot(file('permissions'))
    terminal.press('Escape')
    await terminal.until(READY)
    terminal.press('Shift-Tab')
    await expect(
      masked(await terminal.until(/accept edits: changes files without asking/)),
    ).toMatchFileSnapshot(file('mode-edits'))
    terminal.press('Shift-Tab')
    await expect(masked(await terminal.until(/plan: reads only/))).toMatchFileSnapshot(file('mode-plan'))
  })

  test('the question about trust lists what the folder would change, including hooks', async () => {
    const { bench, open, masked, file } = await setStage(size, [])
    await put(
      join(bench.folder, '.palimpsest', 'settings.json'),
      JSON.stringify({
        permissions: { allow: ['Bash(make deploy)'] },
        env: { STAGE: 'production' },
        hooks: {
          PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './check.sh --all' }] }],
        },
      }),
    )
    const terminal = open()
    await expect(masked(await terminal.until(/Do you trust[^]*Esc/))).toMatchFileSnapshot(file('trust'))
    terminal.type('n')
    await terminal.until(READY)
  })

  test('models are listed with windows and prices; sessions are picked; pasted and typed text is shown', async () => {
    const { bench, open, masked, file } = await setStage(size, [{ content: [text('Seen.')] }])
    await bench.run(['-p', '--model', MODEL, 'What is in a.ts?'])
    const terminal = open({ args: ['--resume'] })
    await expect(masked(await terminal.until(/to search/))).toMatchFileSnapshot(file('sessions'))
    terminal.press('Enter')
    await expect(masked(await terminal.until(/Seen\.[^]*context left/))).toMatchFileSnapshot(file('resumed'))
    await say(terminal, '/model')
    await expect(masked(await terminal.until(/from now on\?[^]*to search/))).toMatchFileSnapshot(
      file('models'),
    )
    terminal.press('Escape')
    await terminal.until(READY)
    terminal.paste(Array.from({ length: 30 }, (_, i) => `pasted line ${i + 1}`).join('\n'))
    terminal.type(' and what I typed')
    await expect(masked(await terminal.until(/and what I typed/))).toMatchFileSnapshot(file('pasted'))
    terminal.press('C-c')
    await terminal.until(/Ctrl-C again quits/)
    terminal.press('Up')
    await expect(masked(await terminal.until(/^> \S.*\n.*context left/m))).toMatchFileSnapshot(
      file('history'),
    )
  })

  test('every command that reports something', async () => {
    const { bench, open, masked, file } = await setStage(size, [{ content: [text('It holds one number.')] }])
    await put(
      join(bench.home, 'settings.json'),
      JSON.stringify({
        hooks: { PreCompact: [{ hooks: [{ type: 'command', command: 'notify-send done' }] }] },
      }),
    )
    const terminal = open({
      args: ['--model', MODEL, '--session-id', '01234567-89ab-4cde-8f01-23456789abcd'],
    })
    await say(terminal, 'What is in a.ts?')
    await idleAfter(terminal, 'one number')
    for (const [command, name, end] of TELLING) {
      await say(terminal, command)
      await expect(masked(await idleAfter(terminal, `\\n> ${command}\\n[^]*${end}`))).toMatchFileSnapshot(
        file(name),
      )
    }
    await say(terminal, '/context')
    await expect(masked(await terminal.until(/Nothing has been removed yet[^]*Esc/))).toMatchFileSnapshot(
      file('context'),
    )
    terminal.press('Escape')
    await terminal.until(READY)
    terminal.type('/pe')
    await expect(masked(await terminal.until(/▸ \/permissions/))).toMatchFileSnapshot(file('completion'))
    terminal.press('C-c')
    await terminal.until(/Ctrl-C again quits/)
    terminal.type('/help\r')
    const help = await idleAfter(terminal, 'Ctrl-C twice')
    // Its commands are listed in docs/cli.md, and a test compares the two.
    await expect(masked(help.slice(help.indexOf('  !command')))).toMatchFileSnapshot(file('help'))
    await say(terminal, '/agents')
    expect(await idleAfter(terminal, '\n> /agents\n[^]*agents edit')).toMatch(
      /^ {2}general +Does a piece of work/m,
    )
    await say(terminal, '/doctor')
    // What it finds is the machine's.
    expect(await idleAfter(terminal, '> /doctor\n[^]*sessions')).toMatch(
      /^ {2}ok {3}sandbox|^ {2}note sandbox/m,
    )
  })
})

/** What is typed, the picture, and how it ends. */
const TELLING = [
  ['/cost', 'cost', 'today: '],
  ['/cost day 5', 'cost-day', 'today: '],
  ['# Tests run with make check', 'remembered', 'memory: added'],
  ['/memory', 'memory', 'make check'],
  ['/status', 'status', 'transcript '],
  ['/hooks', 'hooks', 'notify-send'],
  ['/tasks', 'tasks-none', 'background'],
  ['/export talk.md', 'export', 'written to'],
  ['/undo', 'undo', 'yet'],
  ['/modle', 'unknown', 'Did you mean'],
] as const
