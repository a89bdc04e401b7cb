import { writeFileSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test, vi } from 'vitest'

import { openHome } from '../../packages/palimpsest/src/node/files/inside-home.ts'
import { openProject } from '../../packages/palimpsest/src/node/files/paths.ts'
import { CLOSED_URL } from '../kit/closed-port.ts'
import { call, createBench, put, sentBody, text, transcriptsOf, type Bench } from '../kit/headless.ts'
import { openInside, type TerminalInside } from '../kit/terminal-inside.ts'
import { HAS_TMUX, openTerminal, type Terminal, type TerminalOptions } from '../kit/tmux.ts'

// What goes wrong around the interactive agent: a sentence names the cure, nothing is lost, and the terminal is left as it was found.

const MODEL = 'claude-sonnet-5-5'
const READY = /left · .*\$\d.* · \S+$/m
const where = HAS_TMUX ? '' : ' (skipped: tmux is not installed)'

interface OpenOptions {
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
}

function open(bench: Bench, { args = [], env = {} }: OpenOptions = {}): TerminalInside {
  return openInside(bench, { args: ['--model', MODEL, ...args], env })
}

function say(terminal: TerminalInside, words: string): void {
  terminal.type(words)
  terminal.press('Enter')
}

async function startReal(
  bench: Bench,
  { hasJobs = false, env = {} }: Pick<TerminalOptions, 'hasJobs'> & Pick<OpenOptions, 'env'> = {},
): Promise<Terminal> {
  const given = { PALIMPSEST_HOME: bench.home, HOME: bench.userHome, NO_COLOR: '1', ...env }
  const all = { PALIMPSEST_BASE_URL: bench.url, ...given }
  return await openTerminal({ folder: bench.folder, env: all, args: ['--model', MODEL], hasJobs })
}

async function openReal(bench: Bench, options?: Pick<TerminalOptions, 'hasJobs'>): Promise<Terminal> {
  const terminal = await startReal(bench, options)
  await terminal.until(READY)
  return terminal
}

async function sayThere(terminal: Terminal, words: string): Promise<void> {
  await terminal.type(words)
  await terminal.press('Enter')
}

/** Lines are edited by the terminal again, and what is typed is shown. */
async function expectSane(terminal: Terminal): Promise<void> {
  await terminal.until(/exit \d/)
  const modes = await terminal.modes()
  expect(modes).toEqual({ isRaw: false, echoes: true, showsCursor: true, isOther: false })
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe('what goes wrong', () => {
  test('an endpoint that answers with HTML, one where nobody listens, one that stalls: each is reported with its fix, Esc ends it, the words are kept', async () => {
    const answers = [
      () => new Response('<html>It works!</html>', { headers: { 'content-type': 'text/html' } }),
      () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    ]
    let answer = 0
    const bench = await createBench({ instead: () => answers[answer]?.() })
    const terminal = open(bench)
    await terminal.until(READY)
    say(terminal, 'first words')
    const told = await terminal.until(/Check\s+the base URL/)
    expect(told.replaceAll(/\s+/g, ' ')).toMatch(/answered with text\/html, not with a stream of events/)
    terminal.press('Escape')
    await terminal.until(/! interrupted/)
    answer = 1
    say(terminal, 'and more')
    await terminal.until(/> and more[\s\S]*Waiting for the answer… [1-9] s · Esc interrupts/)
    terminal.press('Escape')
    await terminal.until(/> and more[\s\S]*! interrupted/)
    say(terminal, '/quit')
    expect((await terminal.ended).exit).toBe(0)

    const again = open(bench, { args: ['--continue'], env: { PALIMPSEST_BASE_URL: CLOSED_URL } })
    await again.until(/^> first words[^]*left · /m)
    say(again, 'second words')
    // Nobody waits for a server of this machine that is not there.
    const refused = await again.until(/> second words[\s\S]*Nothing\s+listens\s+at\s/)
    expect(refused.replaceAll(/\s+/g, ' ')).toContain(`! Nothing listens at ${new URL(CLOSED_URL).host}.`)
    say(again, '/quit')
    expect((await again.ended).exit).toBe(0)
    const lines = (await readFile((await transcriptsOf(bench))[0] ?? '', 'utf8')).split('\n')
    expect(lines.filter((line) => /"(first|second) words"/.test(line)).length).toBeGreaterThanOrEqual(2)
  })

  test('files named with @: an image is sent, a binary file is refused with what to do, and the words are sent all the same', async () => {
    const bench = await createBench({ script: [{ content: [text('I see a pixel.')] }] })
    writeFileSync(join(bench.folder, 'dot.png'), Buffer.from(PIXEL, 'base64'))
    writeFileSync(join(bench.folder, 'tool.bin'), Buffer.from([0, 1, 2, 3, 255, 254, 0, 0]))
    const terminal = open(bench)
    await terminal.until(READY)
    terminal.paste(join(bench.folder, 'dot.png'))
    terminal.type('and @tool.bin: what are they?')
    terminal.press('Enter')
    const shown = await terminal.until(/I see a pixel\.[\s\S]*^(?:[a-z ]+ · )?\d+% context left/m)
    expect(shown.replaceAll(/\s+/g, ' ')).toMatch(
      /! @tool\.bin is not attached: \S+tool\.bin is a binary file and is not shown\. Look at it with Bash/,
    )
    expect(JSON.stringify(sentBody(bench))).toContain(PIXEL)
  })

  test('ten pasted megabytes are shown as a marker, are refused with the fix, and are in the input again', async () => {
    const bench = await createBench()
    const terminal = open(bench)
    await terminal.until(READY)
    const line = 'the quick brown fox jumps over the lazy dog and 17 others\n'
    terminal.paste(line.repeat(Math.ceil((10 * 1024 * 1024) / line.length)))
    await terminal.until(/^> \[paste #1: \d+ lines\]$/m)
    terminal.press('Enter')
    const told = await terminal.until(/reads it in parts/)
    expect(told.replaceAll(/\s+/g, ' ')).toMatch(
      /! not sent: it holds about \S+M tokens, and \d+k fit\. Write it to a file/,
    )
    await terminal.until(/^> \[paste #2: \d+ lines\]$/m)
    expect(bench.simulator.requests()).toEqual([])
    terminal.press('C-c')
    await terminal.until(/Ctrl-C again quits/)
    terminal.press('C-c')
    expect((await terminal.ended).exit).toBe(0)
  })

  test('a folder with its own settings is asked about once; no is respected, yes is remembered', async () => {
    const bench = await createBench()
    await put(join(bench.folder, '.palimpsest/settings.json'), '{"permissions":{"allow":["Edit"]}}')
    const terminal = open(bench)
    const asked = await terminal.until(/Do you trust this folder/)
    expect(asked).toContain('.palimpsest/settings.json')
    terminal.type('n')
    await terminal.until(/is\s+not trusted[^]*left · .*\$\d/)
    say(terminal, '/clear')
    await terminal.until(/palimpsest \d[\s\S]*palimpsest \d/)
    expect(terminal.screen()).not.toContain('Do you trust')
    say(terminal, '/quit')
    expect((await terminal.ended).exit).toBe(0)

    const again = open(bench)
    await again.until(/Do you trust this folder/)
    again.type('y')
    expect(await again.until(READY)).not.toContain('trusted')
    expect(await readdir(join(bench.home, 'trusted'))).toHaveLength(1)
  })

  test('invalid rules and an invalid session are reported, and the conversation continues', async () => {
    const bench = await createBench({ script: [{ content: [call('Bash', { command: 'touch x' })] }] })
    const { folder } = await openProject(await openHome(bench.home), bench.folder)
    await writeFile(join(folder, 'allowed.json'), '{"allow": [')
    const broken = '22222222-2222-4222-8222-222222222222'
    await writeFile(join(folder, `${broken}.jsonl`), 'this is no JSON\n'.repeat(200))

    const terminal = open(bench)
    const warned = await terminal.until(/allowed\.json[^]*left · /)
    expect(warned.replaceAll(/\s+/g, ' ')).toMatch(
      /cannot read .*allowed\.json .* so no "always" rule of this project applies\. Fix or delete the file/,
    )
    say(terminal, `/resume ${broken}`)
    const told = await terminal.until(
      /is\s+not a session:\s+none\s+of\s+its\s+lines\s+is\s+JSON[^]*left · .*\$\d.* · \S+$/m,
    )
    expect(told.match(/cannot read/g)).toHaveLength(1)
    say(terminal, 'still here')
    await terminal.until(/letter · Esc/)
    terminal.type('n')
    await terminal.until(/not permitted/)
    expect(await readFile(join(folder, 'allowed.json'), 'utf8')).toBe('{"allow": [')
  })
})

describe.skipIf(!HAS_TMUX)(`what goes wrong on a real terminal${where}`, () => {
  test('unreadable settings: a line says which and how to fix them, before anything is drawn', async () => {
    const bench = await createBench()
    await put(join(bench.home, 'settings.json'), '{"permissions": ')
    const terminal = await startReal(bench)
    const shown = await terminal.until(/exit \d/)
    expect(shown.replaceAll('\n', '')).toMatch(/settings\.json.*exit 2/)
    await expectSane(terminal)
  })

  test('Ctrl-Z returns to the shell, and the screen is drawn again afterwards; what was typed is there, in later sessions too', async () => {
    const bench = await createBench({ script: [{ content: [text('An answer.')] }] })
    const terminal = await openReal(bench, { hasJobs: true })
    await sayThere(terminal, 'the first words')
    await terminal.until(/An answer\.[^]*\$\d/)
    await sayThere(terminal, '/status')
    await terminal.until(/transcript/)
    await terminal.type('half a sentence')
    await terminal.until(/> half a sentence/)
    await terminal.press('C-z')
    await terminal.until(/Stopped/)
    expect(await terminal.modes()).toMatchObject({ isRaw: false, echoes: true, showsCursor: true })
    await terminal.press('Enter')
    await terminal.until(/--model[^]*> half a sentence\n.*left ·/)
    await terminal.press('C-u', 'Up')
    await terminal.until(/> \/status\n.*left ·/)
    await terminal.press('Up')
    await terminal.until(/> the first words\n.*left ·/)
    await terminal.press('C-u')
    await sayThere(terminal, '/quit')
    await expectSane(terminal)
    const later = open(bench)
    await later.until(READY)
    // What was typed before is read while the screen is there already.
    await vi.waitFor(
      () => {
        later.press('Up')
        expect(later.screen()).toMatch(/> the first words\n.*left ·/)
      },
      { timeout: 60_000, interval: 50 },
    )
  })

  test('closing the terminal in the middle of an answer ends the turn; the session is free, and resumes where it was', async () => {
    const bench = await createBench({
      script: [{ content: [text('One. '.repeat(400))] }, { content: [text('Here again.')] }],
      faults: [{ match: { path: '/v1/messages', nth: 1 }, fault: { type: 'slow', ms_per_token: 20 } }],
    })
    const terminal = await openReal(bench)
    await sayThere(terminal, 'tell me much')
    await terminal.until(/One\. One\./)
    await terminal.close()
    const again = open(bench, { args: ['--continue'] })
    const resumed = await again.until(/^> tell me much[^]*left · .*\$\d/m)
    expect(resumed).not.toContain('fork')
    say(again, 'go on')
    await again.until(/Here again\.[\s\S]*^(?:[a-z ]+ · )?\d+% context left/m)
  })

  test('without cursor movement the screen uses lines: a letter answers a question, and Ctrl-C interrupts without quitting', async () => {
    const bench = await createBench({
      script: [
        { content: [call('Write', { file_path: 'note.txt', content: 'kept\n' })] },
        { content: [text('Written.')] },
        { content: [text('One. '.repeat(400))] },
      ],
      faults: [{ match: { path: '/v1/messages', nth: 3 }, fault: { type: 'slow', ms_per_token: 20 } }],
    })
    const terminal = await startReal(bench, { env: { TERM: 'dumb' } })
    await terminal.until(/^> $|^>$/m)
    await sayThere(terminal, 'Write the note')
    await terminal.until(/^\? ?$/m)
    await sayThere(terminal, 'y')
    const written = await terminal.until(/Written\.[\s\S]*^\[(?:[a-z ]+ · )?\d+% context left.*\]\n>/m)
    expect(written.match(/Write the note/g)).toHaveLength(1)
    expect((await stat(join(bench.folder, 'note.txt'))).isFile()).toBe(true)
    await sayThere(terminal, 'tell me much')
    await vi.waitFor(() => expect(bench.simulator.requests()).toHaveLength(3), 30_000)
    await terminal.press('C-c')
    await terminal.until(/! interrupted/)
    await sayThere(terminal, '/quit')
    await expectSane(terminal)
  })
})
