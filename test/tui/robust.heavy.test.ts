import { writeFileSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test, vi } from 'vitest'

import { openHome } from '../../packages/palimpsest/src/node/files/inside-home.ts'
import { openProject } from '../../packages/palimpsest/src/node/files/paths.ts'
import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import { call, createBench, put, sentBody, text, transcriptsOf, type Bench } from '../kit/headless.ts'
import { HAS_TMUX, openTerminal, type Terminal } from '../kit/tmux.ts'

// What goes wrong around the interactive agent: a sentence names the cure, nothing is lost, and the terminal is left as it was found.

const MODEL = 'claude-sonnet-5-5'
const READY = /left · .*\$\d.* · \S+$/m
const where = HAS_TMUX ? '' : ' (skipped: tmux is not installed)'

interface OpenOptions {
  readonly args?: readonly string[]
  readonly hasJobs?: boolean
  readonly env?: { readonly [name: string]: string }
}

async function start(
  bench: Bench,
  { args = [], env = {}, hasJobs = false }: OpenOptions = {},
): Promise<Terminal> {
  const given = { PALIMPSEST_HOME: bench.home, HOME: bench.userHome, NO_COLOR: '1', ...env }
  const all = { PALIMPSEST_BASE_URL: bench.url, ...given }
  return await openTerminal({ folder: bench.folder, env: all, args: ['--model', MODEL, ...args], hasJobs })
}

async function open(bench: Bench, options?: OpenOptions): Promise<Terminal> {
  const terminal = await start(bench, options)
  await terminal.until(READY)
  return terminal
}

async function say(terminal: Terminal, words: string): Promise<void> {
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

describe.skipIf(!HAS_TMUX)(`what goes wrong${where}`, () => {
  test('settings that cannot be read: a line says which and how to mend them, before anything is drawn', async () => {
    const bench = await createBench()
    await put(join(bench.home, 'settings.json'), '{"permissions": ')
    const terminal = await start(bench)
    const shown = await terminal.until(/exit \d/)
    expect(shown.replaceAll('\n', '')).toMatch(/settings\.json.*exit 2/)
    await expectSane(terminal)
  })

  test('Ctrl-Z gives the terminal back, and the screen is drawn again afterwards; what was typed is there, in later sessions too', async () => {
    const bench = await createBench({ script: [{ content: [text('An answer.')] }] })
    const terminal = await open(bench, { hasJobs: true })
    await say(terminal, 'the first words')
    await terminal.until(/An answer\.[^]*\$\d/)
    await say(terminal, '/status')
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
    await say(terminal, '/quit')
    await expectSane(terminal)
    const later = await open(bench)
    // What was typed before is read while the screen is there already.
    await vi.waitFor(
      async () => {
        await later.press('Up')
        expect(await later.screen()).toMatch(/> the first words\n.*left ·/)
      },
      { timeout: 60_000, interval: 500 },
    )
  })

  test('an endpoint that answers with HTML, one that nobody serves, one that stalls: each is told with its cure, Esc ends it, the words are kept', async () => {
    const answers = [
      () => new Response('<html>It works!</html>', { headers: { 'content-type': 'text/html' } }),
      () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    ]
    let answer = 0
    const bench = await createBench({ instead: () => answers[answer]?.() })
    const terminal = await open(bench)
    await say(terminal, 'first words')
    const told = await terminal.until(/Check\s+the base URL/)
    expect(told.replaceAll(/\s+/g, ' ')).toMatch(/answered with text\/html, not with a stream of events/)
    await terminal.press('Escape')
    await terminal.until(/! interrupted/)
    answer = 1
    await say(terminal, 'and more')
    await terminal.until(/> and more[\s\S]*Waiting for the answer… [1-9] s · Esc interrupts/)
    await terminal.press('Escape')
    await terminal.until(/> and more[\s\S]*! interrupted/)
    await say(terminal, '/quit')
    await expectSane(terminal)

    const gone = await serve(async () => new Response())
    await gone.close()
    const again = await open(bench, { args: ['--continue'], env: { PALIMPSEST_BASE_URL: gone.url } })
    expect(await again.screen()).toContain('> first words')
    await say(again, 'second words')
    // Nobody waits for a server of this machine that is not there.
    const refused = await again.until(/> second words[\s\S]*Nothing\s+listens\s+at\s/)
    expect(refused.replaceAll(/\s+/g, ' ')).toContain(`! Nothing listens at ${new URL(gone.url).host}.`)
    await say(again, '/quit')
    await expectSane(again)
    const lines = (await readFile((await transcriptsOf(bench))[0] ?? '', 'utf8')).split('\n')
    expect(lines.filter((line) => /"(first|second) words"/.test(line)).length).toBeGreaterThanOrEqual(2)
  })

  test('a terminal that is closed in mid-answer ends the turn; the session is free, and goes on where it stood', async () => {
    const bench = await createBench({
      script: [{ content: [text('One. '.repeat(400))] }, { content: [text('Here again.')] }],
      faults: [{ match: { path: '/v1/messages', nth: 1 }, fault: { type: 'slow', ms_per_token: 20 } }],
    })
    const terminal = await open(bench)
    await say(terminal, 'tell me much')
    await terminal.until(/One\. One\./)
    await terminal.close()
    const again = await open(bench, { args: ['--continue'] })
    const resumed = await again.screen()
    expect(resumed).toContain('> tell me much')
    expect(resumed).not.toContain('fork')
    await say(again, 'go on')
    await again.until(/Here again\.[\s\S]*^(?:[a-z ]+ · )?\d+% context left/m)
  })

  test('files named by @: an image is sent, a binary file is refused with what to do, and the words are sent all the same', async () => {
    const bench = await createBench({ script: [{ content: [text('I see a pixel.')] }] })
    writeFileSync(join(bench.folder, 'dot.png'), Buffer.from(PIXEL, 'base64'))
    writeFileSync(join(bench.folder, 'tool.bin'), Buffer.from([0, 1, 2, 3, 255, 254, 0, 0]))
    const terminal = await open(bench)
    await terminal.paste(join(bench.folder, 'dot.png'))
    await terminal.type('and @tool.bin: what are they?')
    await terminal.press('Enter')
    const shown = await terminal.until(/I see a pixel\.[\s\S]*^(?:[a-z ]+ · )?\d+% context left/m)
    expect(shown.replaceAll(/\s+/g, ' ')).toMatch(
      /! @tool\.bin is not attached: \S+tool\.bin is a binary file and is not shown\. Look at it with Bash/,
    )
    expect(JSON.stringify(sentBody(bench))).toContain(PIXEL)
  })

  test('ten megabytes are pasted: they stand as a marker, are refused with the cure, and stand in the input again', async () => {
    const bench = await createBench()
    const terminal = await open(bench)
    const line = 'the quick brown fox jumps over the lazy dog and 17 others\n'
    await terminal.paste(line.repeat(Math.ceil((10 * 1024 * 1024) / line.length)))
    await terminal.until(/^> \[paste #1: \d+ lines\]$/m)
    await terminal.press('Enter')
    const told = await terminal.until(/reads it in parts/)
    expect(told.replaceAll(/\s+/g, ' ')).toMatch(
      /! not sent: it holds about \S+M tokens, and \d+k fit\. Write it to a file/,
    )
    await terminal.until(/^> \[paste #2: \d+ lines\]$/m)
    expect(bench.simulator.requests()).toEqual([])
    await terminal.press('C-c')
    await terminal.press('C-c')
    await expectSane(terminal)
  })

  test('a folder that brings settings is asked about, once; no is respected, yes is remembered', async () => {
    const bench = await createBench()
    await put(join(bench.folder, '.palimpsest/settings.json'), '{"permissions":{"allow":["Edit"]}}')
    const terminal = await start(bench)
    const asked = await terminal.until(/Do you trust this folder/)
    expect(asked).toContain('.palimpsest/settings.json')
    await terminal.type('n')
    const refused = await terminal.until(READY)
    expect(refused).toMatch(/is\s+not trusted/)
    await say(terminal, '/clear')
    await terminal.until(/palimpsest \d[\s\S]*palimpsest \d/)
    expect(await terminal.screen()).not.toContain('Do you trust')
    await say(terminal, '/quit')
    await expectSane(terminal)

    const again = await start(bench)
    await again.until(/Do you trust this folder/)
    await again.type('y')
    expect(await again.until(READY)).not.toContain('trusted')
    expect(await readdir(join(bench.home, 'trusted'))).toHaveLength(1)
  })

  test('rules that cannot be read and a session that is none are told, and the conversation goes on', async () => {
    const bench = await createBench({ script: [{ content: [call('Bash', { command: 'touch x' })] }] })
    const { folder } = await openProject(await openHome(bench.home), bench.folder)
    await writeFile(join(folder, 'allowed.json'), '{"allow": [')
    const broken = '22222222-2222-4222-8222-222222222222'
    await writeFile(join(folder, `${broken}.jsonl`), 'this is no JSON\n'.repeat(200))

    const terminal = await open(bench)
    expect((await terminal.screen()).replaceAll(/\s+/g, ' ')).toMatch(
      /allowed\.json cannot be read .* no "always" of this project holds\. Fix or delete it/,
    )
    await say(terminal, `/resume ${broken}`)
    const told = await terminal.until(/is\s+not a session: no line\s+of it is JSON/)
    expect(told).toMatch(READY)
    expect(told.match(/cannot be read/g)).toHaveLength(1)
    await say(terminal, 'still here')
    await terminal.until(/letter · Esc/)
    await terminal.type('n')
    await terminal.until(/not permitted/)
    expect(await readFile(join(folder, 'allowed.json'), 'utf8')).toBe('{"allow": [')
  })

  test('without a cursor to move there are lines: a question is answered by a letter, Ctrl-C interrupts and does not leave', async () => {
    const bench = await createBench({
      script: [
        { content: [call('Write', { file_path: 'note.txt', content: 'kept\n' })] },
        { content: [text('Written.')] },
        { content: [text('One. '.repeat(400))] },
      ],
      faults: [{ match: { path: '/v1/messages', nth: 3 }, fault: { type: 'slow', ms_per_token: 20 } }],
    })
    const terminal = await start(bench, { env: { TERM: 'dumb' } })
    await terminal.until(/^> $|^>$/m)
    await say(terminal, 'Write the note')
    await terminal.until(/^\? ?$/m)
    await say(terminal, 'y')
    const written = await terminal.until(/Written\.[\s\S]*^\[(?:[a-z ]+ · )?\d+% context left.*\]\n>/m)
    expect(written.match(/Write the note/g)).toHaveLength(1)
    expect((await stat(join(bench.folder, 'note.txt'))).isFile()).toBe(true)
    await say(terminal, 'tell me much')
    await vi.waitFor(() => expect(bench.simulator.requests()).toHaveLength(3), 30_000)
    await terminal.press('C-c')
    await terminal.until(/! interrupted/)
    await say(terminal, '/quit')
    await expectSane(terminal)
  })
})
