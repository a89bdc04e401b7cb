import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import {
  askForSummaries,
  longAnswers,
  ROUNDS_TO_FILL,
  settings,
  SUMMARY_ASKED,
  summaryStep,
  WINDOW,
} from '../kit/compacting.ts'
import { openHome } from '../../packages/palimpsest/src/node/files/inside-home.ts'
import { openProject } from '../../packages/palimpsest/src/node/files/paths.ts'
import { createTranscript } from '../../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import { generateTranscript } from '../kit/generate-transcript.ts'
import { call, createBench, type Bench } from '../kit/headless.ts'
import { openInside, type TerminalInside } from '../kit/terminal-inside.ts'
import { HAS_TMUX, openTerminal, type Terminal } from '../kit/tmux.ts'

// The interactive agent on a terminal of 80 by 24, as a person sees it.

const MODEL = 'claude-sonnet-5-5'
/** From 40,000 tokens on; an answer takes 7,000, and what was before can be had back. */
const EARLY = { PALIMPSEST_AUTOCOMPACT_PCT: '70' }
const READY = /left · .*\$\d.* · \S+$/m
const where = HAS_TMUX ? '' : ' (skipped: tmux is not installed)'

function open(
  bench: Bench,
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
): TerminalInside {
  return openInside(bench, { env, args })
}

/** Without a model, on a terminal that is a real one. */
async function openOffline({ home, userHome, folder }: Bench): Promise<Terminal> {
  const env = { PALIMPSEST_HOME: home, HOME: userHome, NO_COLOR: '1' }
  const terminal = await openTerminal({ folder, env })
  await terminal.until(READY)
  return terminal
}

function say(terminal: TerminalInside, text: string): void {
  terminal.type(text)
  terminal.press('Enter')
}

/**
 * The whole screen, compared with the file of that name, as soon as it is drawn. How often the line of what goes on was drawn before the
 * last words decides whether a line or two at the top have scrolled away.
 */
async function expectScreen(
  terminal: { readonly screen: () => string | Promise<string> },
  name: string,
  bench: Bench,
  partOf: (screen: string) => string = (screen) => screen,
): Promise<void> {
  const path = `screens/${name}.txt`
  const wanted = await readFile(join(import.meta.dirname, path), 'utf8').catch(() => '')
  const shown = async (): Promise<string> => `${masked(steady(partOf(await terminal.screen()), bench))}\n`
  let last = ''
  for (let still = 0; still < STILL_TURNS;) {
    const now = await shown()
    if (isSameBelow(now, wanted)) return
    still = now === last ? still + 1 : 0
    last = now
    await sleep(TURN_MS)
  }
  await expect(last).toMatchFileSnapshot(path)
}

const TURN_MS = 50
/** A screen that has not changed for so long, 15 seconds, is what it is going to be, on a busy machine too. */
const STILL_TURNS = 300
const SCROLLED_LINES_MAX = 2

function isSameBelow(shown: string, wanted: string): boolean {
  const [a, b] = [shown.split('\n'), wanted.split('\n')]
  const lines = Math.min(a.length, b.length)
  if (Math.max(a.length, b.length) - lines > SCROLLED_LINES_MAX) return false
  return a.slice(-lines).join('\n') === b.slice(-lines).join('\n')
}

/** Without what differs from run to run. */
function steady(screen: string, { url, folder }: Bench): string {
  return screen
    .replaceAll(url, 'URL')
    .replaceAll(folder, 'FOLDER')
    .replaceAll(/palimpsest \d+\.\d+\.\d+/g, 'palimpsest VERSION')
    .replaceAll(/─{20,}/g, '────')
}

/** Without times, ids, tokens and dollars, and without how much a compaction keeps: names of folders differ, and policies are tuned. */
function masked(screen: string): string {
  const VOLATILE =
    /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b|\b\d\d:\d\d\b|\d+\.\d{4}\b|\b\d+(?:\.\d+)?k\b|\d+(?=%| tokens| → | s · Esc| B$| B\n| messages| stayed| facts| kept| repaired| invented)/g
  return screen
    .replaceAll(/^ {2}[█▒▚▓░▞▌▐·│]{20,}$/gm, '  BAR')
    .replaceAll(/ +[\d.]+k? +(?=\d+%)/g, ' N ')
    .replaceAll(VOLATILE, 'N')
    .replaceAll(/compacted +N +N messages/g, 'compacted N N messages')
}

/** What is above it has scrolled by a line or not when the command is gone. */
function fromWords(screen: string): string {
  return screen.slice(screen.indexOf('\n> ') + 1)
}

describe('the screen', () => {
  test('an edit is shown before it is approved; the status line shows what the simulator billed', async () => {
    const bench = await createBench({
      script: [
        {
          content: [
            { type: 'text', text: 'I read it.' },
            { type: 'tool_use', name: 'Read', input: { file_path: 'a.ts' } },
          ],
        },
        {
          content: [
            {
              type: 'tool_use',
              name: 'Edit',
              input: { file_path: 'a.ts', old_string: 'a = 1', new_string: 'a = 2' },
            },
          ],
        },
        {
          content: [
            {
              type: 'text',
              text: '# Done\n\n- `a` is **2** now\n- 宽字符 too\n\n```ts\nexport const a = 2\n```',
            },
          ],
        },
      ],
    })
    await writeFile(join(bench.folder, 'a.ts'), 'export const a = 1\n')
    const terminal = open(bench, ['--model', MODEL])
    await terminal.until(READY)
    terminal.type('Make a 2')
    terminal.press('Enter')
    const asked = await terminal.until(/letter · Esc/)
    expect(steady(asked, bench)).toBe(
      [
        `palimpsest VERSION  ${MODEL}`,
        'asks URL',
        'FOLDER · /help lists commands and keys',
        '',
        '> Make a 2',
        '',
        'I read it.',
        '',
        '● Read(a.ts) 1 line, 25 B',
        '',
        '────',
        'Allow Edit(a.ts)? (it changes a file)',
        '    - a = 1',
        '    + a = 2',
        '▸ (y) Yes, this once',
        '  (a) Always allow edits to files in FOLDER',
        '      Edit(./**) · hooks, settings and the like still ask',
        '  (n) No',
        '  (t) No, and tell it what to do instead',
        '↑↓ Enter, or the letter · Esc',
      ].join('\n'),
    )
    expect(await readFile(join(bench.folder, 'a.ts'), 'utf8')).toBe('export const a = 1\n')
    terminal.type('y')
    const done = await terminal.until(/Done[\s\S]*^(?:[a-z ]+ · )?\d+% context left/m)
    expect(await readFile(join(bench.folder, 'a.ts'), 'utf8')).toBe('export const a = 2\n')
    await expectScreen(terminal, '4-the-edit-is-done', bench)
    const shown = done.split('\n')
    expect(shown.at(-1)).toContain(`$${bench.simulator.stats().cost_usd.toFixed(4)} · ${MODEL}`)
  })

  test('a long session is compacted automatically; that is shown and undone, the conversation is rewound with its files, left, and resumed where it was', async () => {
    const bench = await createBench({ switches: { pastScript: 'offline' } })
    await askForSummaries(bench)
    bench.simulator.addSteps([
      summaryStep('Notes are to be written, and the window filled.'),
      {
        content: [{ type: 'tool_use', name: 'Write', input: { file_path: 'note.txt', content: 'kept\n' } }],
      },
      { content: [{ type: 'text', text: 'Written.' }] },
      ...longAnswers('filling', ROUNDS_TO_FILL - 2, () => call('Read', { file_path: 'note.txt' })),
      { content: [{ type: 'text', text: 'The turn is over.' }] },
    ])
    const flags = ['--model', MODEL, '--window', WINDOW, '--permission-mode', 'accept-edits']
    const terminal = open(bench, flags, EARLY)
    await terminal.until(READY)
    say(terminal, 'Write the note')
    await terminal.until(/Written\.[\s\S]*^(?:[a-z ]+ · )?\d+% context left/m)
    say(terminal, 'Fill the window')
    const told = await terminal.until(/The turn is over\.[\s\S]*^(?:[a-z ]+ · )?\d+% context left/m)
    expect(told).toMatch(/· compacted by summary: [\d.]+k → [\d.]+k tokens/)
    await expectScreen(terminal, '5-a-compaction', bench)

    terminal.press('C-t')
    await expectScreen(terminal, '5-what-went', bench)
    terminal.type('q')
    await terminal.until(READY)
    terminal.press('C-o')
    const whole = await terminal.until(/^the whole conversation · /m)
    expect(whole).toContain('The turn is over.')
    terminal.type('q')
    await terminal.until(READY)

    say(terminal, '/export all.txt')
    await terminal.until(/· written to \S+all\.txt/)
    const exported = await readFile(join(bench.folder, 'all.txt'), 'utf8')
    expect(exported).toMatch(/^> Write the note$[\s\S]*^· compacted by summary: /m)

    say(terminal, '/context')
    await expectScreen(terminal, '6-context', bench)
    terminal.press('Enter')
    await expectScreen(terminal, '6-undo-asked', bench)
    terminal.type('u')
    await terminal.until(/· undone: [\s\S]*^>\n(?:[a-z ]+ · )?~\d+% context left/m)
    await expectScreen(terminal, '6-undone', bench)

    terminal.press('Escape')
    await terminal.until(/Esc again rewinds/)
    terminal.press('Escape')
    await expectScreen(terminal, '7-rewind', bench)
    terminal.type('write the')
    await terminal.until(/▸ Write the note/)
    terminal.press('Enter')
    await expectScreen(terminal, '7-rewind-files', bench)
    terminal.type('b')
    await terminal.until(
      /^· rewound[\s\S]*\/help lists[\s\S]*^> Write the note\n(?:[a-z ]+ · )?~\d+% context left/m,
    )
    await expectScreen(terminal, '7-rewound', bench)
    await expect(readFile(join(bench.folder, 'note.txt'), 'utf8')).rejects.toThrow('ENOENT')
    terminal.press('C-u')
    say(terminal, 'Another way')
    await terminal.until(/> Another way[\s\S]*^(?:[a-z ]+ · )?\d+% context left/m)
    say(terminal, '/quit')
    const { exit } = await terminal.ended
    await expectScreen(terminal, '8-quit', bench, (screen) => `${fromWords(screen)}\nexit ${exit}`)

    const again = open(bench, ['--continue', '--model', MODEL])
    const resumed = await again.until(/^> Another way[^]*left · cache ~/m)
    expect(resumed).not.toContain('The turn is over.')
    await expectScreen(again, '9-resumed', bench)
    // Also what was said on the way that was not taken, and before a compaction, was paid for.
    const { cost_usd: cost, hit_rate: hits } = bench.simulator.stats()
    expect(resumed).toContain(`cache ~${Math.round(100 * hits)}% · ~$${cost.toFixed(4)} · ${MODEL}`)
  })

  test('if the settings say so, a compaction asks first; if declined, it asks again when there is more', async () => {
    const bench = await createBench()
    await askForSummaries(bench)
    await settings(bench, { compaction: { confirm: true } })
    bench.simulator.addSteps([
      summaryStep('Some of it.'),
      ...longAnswers('asking', ROUNDS_TO_FILL + 1),
      { content: [{ type: 'text', text: 'The turn is over.' }] },
    ])
    const terminal = open(bench, ['--model', MODEL, '--window', WINDOW], EARLY)
    await terminal.until(READY)
    say(terminal, 'Fill the window')
    const question = await terminal.until(/holds 4\d{4} tokens: compact it now\?/)
    const [, first = ''] = /holds (\d+) tokens/.exec(question) ?? []
    terminal.type('n')
    await terminal.until(new RegExp(`holds (?!${first})4\\d{4} tokens: compact it now`))
    const asked = bench.simulator.requests().length
    terminal.type('y')
    await terminal.until(/The turn is over\.[\s\S]*^(?:[a-z ]+ · )?~?\d+% context left/m)
    const isSummary = bench.simulator
      .requests()
      .map(({ body }) => JSON.stringify(body).includes(SUMMARY_ASKED))
    expect(isSummary.indexOf(true)).toBe(asked)
  })

  test('a session from months ago is resumed: first the screen says what the next request costs; Esc cancels, and the words stay', async () => {
    const bench = await createBench()
    const project = await openProject(await openHome(bench.home), bench.folder)
    const id = '33333333-3333-4333-8333-333333333333'
    const version = '0.0.0'
    const options = { project, sessionId: id, cwd: bench.folder, version, now: () => 0 }
    const file = await createTranscript({ ...options, sync: 'close' })
    await generateTranscript(file, { bytes: 400_000, boundaryBytes: 150_000, resultChars: 2_000 })
    await file.close()
    const terminal = open(bench, ['--resume', id, '--model', MODEL])
    await terminal.until(READY)
    expect(terminal.screen()).toMatch(/^(?:[a-z ]+ · )?~\d+% context left/m)
    say(terminal, '/rewind')
    await terminal.until(/^! nothing has been said since the last compaction\. To go back further, undo it/m)
    say(terminal, '/undo nonsense')
    await terminal.until(/^! no removal has the id "nonsense"/m)
    say(terminal, '/undo')
    await terminal.until(/^Undo which removal\? The newest comes first\s+▸ [^]*compacted/m)
    terminal.press('Escape')
    await terminal.until(READY)
    await writeFile(join(bench.folder, 'taken.md'), 'mine')
    say(terminal, '/export taken.md')
    await terminal.until(/already a file of that\s+name\. Name another file/)
    expect(await readFile(join(bench.folder, 'taken.md'), 'utf8')).toBe('mine')
    say(terminal, 'good morning')
    const asked = await terminal.until(/letter · Esc/)
    expect(asked.replaceAll(/\s+/g, ' ')).toMatch(
      /The cache has expired: the next request costs about \$0\.\d\d ▸ \(s\) Send it as it is \(c\) Compact first/,
    )
    terminal.press('Escape')
    await terminal.until(/^> good morning\n~/m)
    expect(bench.simulator.requests()).toEqual([])
  })
})

describe.skipIf(!HAS_TMUX)(`the screen of a real terminal${where}`, () => {
  test('a first run, offline, says what it uses; a question is answered; Ctrl-C twice quits, and nothing of it is left on the terminal', async () => {
    const bench = await createBench()
    await writeFile(
      join(bench.folder, 'retry.ts'),
      '// The retry delay doubles with each attempt.\nexport const retryDelayMs = 200\n',
    )
    const terminal = await openOffline(bench)
    expect(steady(await terminal.screen(), bench)).toBe(
      [
        'palimpsest VERSION  palimpsest-offline',
        'offline: it quotes from your files, and writes no code. To ask a model, set',
        '  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY',
        'FOLDER · /help lists commands and keys',
        '',
        '────',
        '>',
        '~97% context left · compacts in ~163k tokens · $0.0000 · palimpsest-offline',
      ].join('\n'),
    )
    await terminal.type('Where is the retry delay?')
    await terminal.press('Enter')
    const answered = await terminal.until(/offline extractive model/)
    expect(answered).toContain('> Where is the retry delay?')
    expect(answered).toContain('│ 2  export const retryDelayMs = 200')
    await expectScreen(terminal, '2-a-question', bench)
    await terminal.press('C-c')
    await terminal.until(/Ctrl-C again quits/)
    await terminal.press('C-c')
    const left = await terminal.until(/exit 0/)
    expect(left).toMatch(/^palimpsest: to resume: palimpsest --resume [0-9a-f-]{36}$/m)
    expect(left).not.toContain('────')
    await expectScreen(terminal, '2-quit', bench, fromWords)
  })

  test('when the terminal gets narrower and wider again, the last lines are there once', async () => {
    const bench = await createBench()
    const terminal = await openOffline(bench)
    await terminal.type('some words that are long enough to be broken')
    await terminal.until(/to be broken/)
    await terminal.resize(40, 20)
    await terminal.until(/^ +broken$/m)
    await terminal.resize(90, 24)
    const wide = await terminal.until(/> some words that are long enough to be broken/)
    expect(wide.match(/% context left/g)).toHaveLength(1)
    expect(wide.match(/^─+$/gm)).toHaveLength(1)
  })
})
