import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { onTestFinished } from 'vitest'

import { COMMAND, COMPILED } from './headless.ts'
import { attachControl, type Control } from './tmux-control.ts'

// The command on a terminal of its own, driven as a person would: keys go in, the screen is read back as text.

const run = promisify(execFile)

export const HAS_TMUX = hasTmux()

export interface Terminal {
  /** Characters as they are. */
  readonly type: (text: string) => Promise<void>
  /** A key by its name: `Enter`, `Escape`, `C-c`. */
  readonly press: (...names: readonly string[]) => Promise<void>
  /** As one paste, of any length. */
  readonly paste: (text: string) => Promise<void>
  readonly modes: () => Promise<TerminalModes>
  /** As a window that is closed: the program is told. */
  readonly close: () => Promise<void>
  readonly resize: (columns: number, rows: number) => Promise<void>
  /** What stands on the screen, without the empty lines below it. */
  readonly screen: () => Promise<string>
  /** The screen once it holds this. */
  readonly until: (wanted: RegExp) => Promise<string>
}

export interface TerminalModes {
  readonly isRaw: boolean
  readonly echoes: boolean
  readonly showsCursor: boolean
  /** The screen without scrollback. */
  readonly isOther: boolean
}

export interface TerminalOptions {
  readonly folder: string
  readonly env: { readonly [name: string]: string }
  readonly args?: readonly string[]
  readonly columns?: number
  readonly rows?: number
  /** In a shell that looks after jobs: when the command was stopped, Enter continues it. */
  readonly hasJobs?: boolean
}

/** On a machine that does many things at once all takes long. */
const WAIT_MS = 60_000
const POLL_MS = 50
/** Something was drawn: more comes at once, and the screen is looked at when it is there. */
const DRAWN_MS = 20
/** Without a word from tmux it is looked at all the same. */
const LOOK_MS = 500

export async function openTerminal(options: TerminalOptions): Promise<Terminal> {
  const socket = `palimpsest-${randomUUID()}`
  const server = ['-u', '-L', socket, '-f', '/dev/null']
  const env = {
    PATH: process.env['PATH'] ?? '',
    PALIMPSEST_MEMORY_EXTRACT: '0',
    LANG: 'C.UTF-8',
    TERM: 'screen',
    NODE_COMPILE_CACHE: COMPILED,
    ...options.env,
  }
  const words = [
    'env',
    '-i',
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...COMMAND,
    ...(options.args ?? []),
  ]
  const line = words.map(quoted).join(' ')
  const command = options.hasJobs
    ? `bash --norc -ic ${quoted(`${line}; read; fg; echo "exit $?"; exec sleep 300`)}`
    : `${line}; echo "exit $?"; exec sleep 300`
  const { columns = 80, rows = 24 } = options
  const size = ['-x', String(columns), '-y', String(rows)]
  await run('tmux', [...server, 'new-session', '-d', '-s', 'main', ...size, '-c', options.folder, command])
  const control = attachControl(server)
  const tmux: Tmux = async (...args) => await control.run(args.map(quoted).join(' '))
  // What it still writes while it ends must not come into a folder that is being removed.
  onTestFinished(async () => await closeWindow(tmux).catch(() => undefined))
  const screen = async (): Promise<string> => (await tmux('capture-pane', '-p', '-t', 'main')).trimEnd()
  return {
    type: async (text) => void (await tmux('send-keys', '-t', 'main', '-l', '--', text)),
    press: async (...names) => void (await tmux('send-keys', '-t', 'main', ...names)),
    paste: async (text) => {
      const folder = await mkdtemp(join(tmpdir(), 'palimpsest-paste-'))
      onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
      await writeFile(join(folder, 'text'), text)
      await tmux('load-buffer', join(folder, 'text'))
      await tmux('paste-buffer', '-p', '-t', 'main')
    },
    modes: async () => await readModes(tmux),
    close: async () => await closeWindow(tmux),
    resize: async (columns, rows) =>
      void (await tmux('resize-window', '-t', 'main', '-x', String(columns), '-y', String(rows))),
    screen,
    until: async (wanted) => await until(wanted, screen, control),
  }
}

async function until(wanted: RegExp, screen: () => Promise<string>, control: Control): Promise<string> {
  const end = Date.now() + WAIT_MS
  for (;;) {
    const drawn = control.drawn(LOOK_MS)
    const shown = await screen()
    if (wanted.test(shown)) return shown
    if (Date.now() > end) throw new Error(`${String(wanted)} did not come. The screen:\n${shown}`)
    await drawn
    await sleep(DRAWN_MS)
  }
}

type Tmux = (...args: readonly string[]) => Promise<string>

async function readModes(tmux: Tmux): Promise<TerminalModes> {
  const told = await tmux('display', '-p', '-t', 'main', '#{pane_tty} #{cursor_flag} #{alternate_on}')
  const [tty = '', cursor, other] = told.trim().split(' ')
  const { stdout } = await run('stty', ['-a', '-F', tty])
  return {
    isRaw: / -icanon/.test(stdout),
    echoes: / echo\b/.test(stdout),
    showsCursor: cursor === '1',
    isOther: other === '1',
  }
}

/** Returns when the program is gone. */
async function closeWindow(tmux: Tmux): Promise<void> {
  const pid = Number((await tmux('display', '-p', '-t', 'main', '#{pane_pid}')).trim())
  const { stdout } = await run('pgrep', ['-P', String(pid)]).catch(() => ({ stdout: '' }))
  const [child = ''] = stdout.trim().split('\n')
  await tmux('kill-server').catch(() => undefined)
  if (child === '') return
  const end = Date.now() + WAIT_MS
  while (await isAlive(Number(child))) {
    if (Date.now() > end) throw new Error('the program outlives its terminal')
    await sleep(POLL_MS)
  }
}

/** One that has ended and that nobody has asked about is not: where nobody does, it stays in the list for good. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return !/\) Z /.test(state)
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}

function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
