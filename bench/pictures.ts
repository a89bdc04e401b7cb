import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { readRecording, RECORDING } from '../packages/palimpsest-cli/src/demo/recorded-session.ts'
import { stepsOf } from '../packages/palimpsest-cli/src/demo/play-session.ts'
import { serve } from '../packages/palimpsest/src/node/serving/serve.ts'
import { createSimulator, parseSteps } from '../packages/palimpsest/src/lab/simulator/index.ts'
import { ROOT } from '../test/kit/source-tree.ts'
import { FOLDER } from './demo-turns.ts'
import { drawScreen } from './draw-screen.ts'

// The pictures of the README: the real screen in tmux, driven by keys, on the simulator with the recorded answers of the demo; the tools really run.
// `node --conditions=x-source bench/pictures.ts` writes docs/pictures/*.svg; with a name (`session`, `demo`, `team`) only those. Needs tmux.

const run = promisify(execFile)
const PICTURES = join(ROOT, 'docs/pictures')
const COMMAND = [process.execPath, '--conditions=x-source', join(ROOT, 'packages/palimpsest-cli/src/main.ts')]
const MODEL = 'claude-haiku-4-5'
const WINDOW = '36000'
const COLUMNS = 88
/** Slow enough to be looked at between two answers. */
const ANSWER_MS = 700
const WAIT_MS = 60_000
const POLL_MS = 60
/** A turn is over once nothing has been going on for so long. */
const STILL_MS = 1_500

interface Screen {
  readonly say: (text: string) => Promise<void>
  readonly press: (...keys: readonly string[]) => Promise<void>
  readonly until: (wanted: RegExp) => Promise<void>
  /** Nothing goes on any more, or something is asked. */
  readonly untilIdle: () => Promise<'idle' | 'asked'>
  readonly text: () => Promise<string>
  readonly draw: (name: string, title: string) => Promise<void>
  readonly close: () => Promise<void>
}

const root = await mkdtemp(join(tmpdir(), 'palimpsest-pictures-'))
const only = process.argv[2]
try {
  await mkdir(PICTURES, { recursive: true })
  if (only !== 'team') await layOutAsRecorded()
  if (only === undefined || only === 'session') await drawSession()
  if (only === undefined || only === 'demo') await drawDemo()
  if (only === undefined || only === 'team') await drawTeam()
} finally {
  await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
  if (only !== 'team') await rm(FOLDER, { recursive: true, force: true })
}

/** The recorded answers speak of the sources as they were then: before this file of theirs went elsewhere. */
async function layOutAsRecorded(): Promise<void> {
  const git = async (...words: readonly string[]): Promise<string> =>
    (await run('git', ['-C', ROOT, ...words])).stdout
  const moved = await git('log', '-1', '--format=%H', '--', 'packages/palimpsest/src/tokens/thresholds.ts')
  const tree = join(root, 'then')
  await git('worktree', 'add', '--detach', tree, `${moved.trim()}^`)
  try {
    await mkdir(FOLDER)
    for (const part of ['tokens', 'ledger', 'wire', 'transcript'])
      await cp(join(tree, 'packages/palimpsest/src', part), join(FOLDER, 'src', part), {
        recursive: true,
        filter: (path) => !path.endsWith('.test.ts'),
      })
    await mkdir(join(FOLDER, 'docs'))
    for (const name of ['tokens.md', 'transcript.md', 'cache-accounting.md', 'glossary.md'])
      await cp(join(tree, 'docs', name), join(FOLDER, 'docs', name))
    await writeFile(join(FOLDER, 'package.json'), '{ "name": "palimpsest", "type": "module" }\n')
  } finally {
    await git('worktree', 'remove', '--force', tree)
  }
}

async function drawSession(): Promise<void> {
  const recorded = await readRecording(fileURLToPath(RECORDING))
  const simulator = createSimulator({
    script: stepsOf(recorded).map((step) => ({ ...step, delay_ms: ANSWER_MS })),
  })
  const served = await serve(async (request) => await simulator.fetch(request))
  const env = { PALIMPSEST_BASE_URL: served.url, PALIMPSEST_HOME: join(root, 'home'), HOME: root }
  const screen = await openScreen(['--model', MODEL, '--window', WINDOW], env, 32)
  const [first, second] = recorded.turns.map(({ prompt }) => prompt)
  try {
    await screen.until(/% context left/)
    await screen.say(first ?? '')
    await screen.untilIdle()
    await screen.say(second ?? '')
    await screen.until(/Allow Write/)
    await screen.draw(
      'session',
      'A question answered with quotes; a file to be written, asked for with its content',
    )
    await allowAll(screen)
    await screen.say('/compact')
    await screen.until(/summary\s+checked: /)
    await screen.untilIdle()
    await screen.press('C-l')
    await screen.say('/context')
    await screen.untilIdle()
    await screen.draw(
      'compaction',
      'A compaction, how its summary was checked, what fills the window after it, and each removal, to look at or undo',
    )
  } finally {
    await screen.close()
    await served.close()
  }
}

/** Whatever is asked for in this turn: always, or this once where that is all that is offered. */
async function allowAll(screen: Screen): Promise<void> {
  while ((await screen.untilIdle()) === 'asked') {
    await screen.press(/\(a\) Always/.test(await screen.text()) ? 'a' : 'y')
    await sleep(STILL_MS)
  }
}

async function drawDemo(): Promise<void> {
  const screen = await openScreen(['demo', '--fast'], { HOME: root }, 34)
  try {
    await screen.until(/lists the rest/)
    await screen.draw('demo', 'The end of the demo: what the same session cost, managed and unmanaged')
  } finally {
    await screen.close()
  }
}

/** The example of a team: three teammates, processes of their own, mend six files. */
async function drawTeam(): Promise<void> {
  const example = join(ROOT, 'examples/team')
  const folder = join(root, 'kitchen')
  await cp(join(example, 'repository'), folder, { recursive: true })
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.test', '-c', 'init.defaultBranch=main']
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'six mistakes'],
  ])
    await run('git', ['-C', folder, ...who, ...words])
  const steps = parseSteps(JSON.parse(await readFile(join(example, 'script.json'), 'utf8')))
  if (typeof steps === 'string') throw new Error(steps)
  const simulator = createSimulator({ script: steps.map((step) => ({ ...step, delay_ms: ANSWER_MS })) })
  const served = await serve(async (request) => await simulator.fetch(request))
  const env = { PALIMPSEST_BASE_URL: served.url, PALIMPSEST_HOME: join(root, 'home'), HOME: root }
  const rights = ['--permission-mode', 'accept-edits', '--allowed-tools', 'Bash(node --test:*)']
  const args = ['team', 'Fix the failing tests', '--agents', '3', '--name', 'kitchen', ...rights]
  const screen = await openScreen(args, { ...env, PALIMPSEST_MEMORY_EXTRACT: '0' }, 36, folder)
  try {
    await screen.until(/Merged: task \d[^]*Merged: task \d[^]*^└ cleo: \w+ing /m)
    await screen.draw(
      'team',
      'A leader and three teammates: the tasks, what is merged, and who does what below the input',
    )
    await screen.until(/together +\S+ tokens/)
    console.log(await screen.text())
  } finally {
    await screen.close()
    await served.close()
  }
}

async function openScreen(
  args: readonly string[],
  env: { readonly [name: string]: string },
  rows: number,
  folder: string = FOLDER,
): Promise<Screen> {
  const socket = `palimpsest-pictures-${randomUUID()}`
  const tmux = async (...words: readonly string[]): Promise<string> =>
    (await run('tmux', ['-L', socket, '-f', '/dev/null', ...words])).stdout
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  const given = { PATH: path, LANG: 'C.UTF-8', TERM: 'screen-256color', ...env }
  const variables = Object.entries(given).map(([name, value]) => `${name}=${value}`)
  const command = ['env', '-i', ...variables, ...COMMAND, ...args].map((word) => `'${word}'`).join(' ')
  const size = ['-x', String(COLUMNS), '-y', String(rows)]
  await tmux('new-session', '-d', '-s', 'main', ...size, '-c', folder, `${command}; exec sleep 60`)
  const text = async (): Promise<string> => await tmux('capture-pane', '-p', '-t', 'main')
  const until = async (wanted: RegExp): Promise<void> => {
    const end = Date.now() + WAIT_MS
    while (!wanted.test(await text())) {
      if (Date.now() > end) throw new Error(`${String(wanted)} did not come:\n${await text()}`)
      await sleep(POLL_MS)
    }
  }
  return {
    say: async (words) => {
      await tmux('send-keys', '-t', 'main', '-l', '--', words)
      await tmux('send-keys', '-t', 'main', 'Enter')
    },
    press: async (...keys) => void (await tmux('send-keys', '-t', 'main', ...keys)),
    until,
    untilIdle: async () => {
      const end = Date.now() + WAIT_MS
      for (let since = Date.now(); Date.now() - since < STILL_MS; await sleep(POLL_MS)) {
        const shown = await text()
        if (/^Allow .*\?/m.test(shown)) return 'asked'
        if (/Esc interrupts|Esc cancels/.test(shown)) since = Date.now()
        if (Date.now() > end) throw new Error(`it goes on and on:\n${shown}`)
      }
      return 'idle'
    },
    text,
    draw: async (name, title) => {
      const shown = await tmux('capture-pane', '-e', '-p', '-t', 'main')
      await writeFile(join(PICTURES, `${name}.svg`), drawScreen(shown, title))
      console.log(`${name}\n${await text()}`)
    },
    close: async () => void (await tmux('kill-server').catch(() => undefined)),
  }
}
