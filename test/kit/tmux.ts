import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { onTestFinished } from 'vitest'

import { COMMAND, COMPILED } from './headless.ts'

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
}

const WAIT_MS = 20_000
const POLL_MS = 50

export async function openTerminal(options: TerminalOptions): Promise<Terminal> {
  const socket = `palimpsest-${randomUUID()}`
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await run('tmux', ['-L', socket, '-f', '/dev/null', ...args])).stdout
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
  const command = `${words.map(quoted).join(' ')}; echo "exit $?"; exec sleep 60`
  // What it still writes while it ends must not come into a folder that is being removed.
  onTestFinished(async () => await closeWindow(tmux).catch(() => undefined))
  const { columns = 80, rows = 24 } = options
  await tmux(
    'new-session',
    '-d',
    '-s',
    'main',
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    options.folder,
    command,
  )
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
    until: async (wanted) => {
      const end = Date.now() + WAIT_MS
      for (;;) {
        const shown = await screen()
        if (wanted.test(shown)) return shown
        if (Date.now() > end) throw new Error(`${String(wanted)} did not come. The screen:\n${shown}`)
        await sleep(POLL_MS)
      }
    },
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
  await tmux('kill-server')
  if (child === '') return
  const end = Date.now() + WAIT_MS
  while (isAlive(Number(child))) {
    if (Date.now() > end) throw new Error('the program outlives its terminal')
    await sleep(POLL_MS)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
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
