import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'

import { onTestFinished } from 'vitest'

import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import type { Console, ConsoleEvents } from '../../packages/palimpsest-cli/src/tui/console.ts'
import type { World } from '../../packages/palimpsest-cli/src/world.ts'
import type { CommandBench, CommandEnv } from './command-bench.ts'
import { createTextScreen } from './screen-of-text.ts'

// The interactive command in the test's process, before a terminal that is a few lines of ours: keys go in, the screen is read back as text.
// A session takes milliseconds. What a terminal does by itself (stopping a job, a window that closes) needs a real one: `tmux.ts`.

export interface TerminalInside {
  readonly type: (text: string) => void
  readonly press: (...names: readonly KeyName[]) => void
  readonly paste: (text: string) => void
  readonly resize: (columns: number, rows: number) => void
  readonly screen: () => string
  /** All that was written to the terminal. */
  readonly written: () => string
  /** The screen once it holds this. */
  readonly until: (wanted: RegExp) => Promise<string>
  /** The exit code, once it has ended, and what it printed after the screen was gone. */
  readonly ended: Promise<{ readonly exit: number; readonly err: string }>
}

export interface InsideOptions {
  readonly args?: readonly string[]
  readonly env?: CommandEnv
  readonly columns?: number
  readonly rows?: number
}

const KEYS = {
  Enter: '\r',
  // As terminals send it that tell it from the beginning of another key.
  Escape: '\x1b[27u',
  Tab: '\t',
  'Shift-Tab': '\x1b[Z',
  Up: '\x1b[A',
  Down: '\x1b[B',
  'C-b': '\x02',
  'C-c': '\x03',
  'C-o': '\x0f',
  'C-t': '\x14',
  'C-u': '\x15',
} as const
type KeyName = keyof typeof KEYS
/** What is long comes in pieces, as large as the system reads at once. */
const PASTED_CHARS = 65_536

/** On a machine that does many things at once all takes long. */
const WAIT_MS = 60_000

export function openInside(
  bench: Pick<CommandBench, 'worldFor'>,
  options: InsideOptions = {},
): TerminalInside {
  const { args = [], env = {}, columns = 80, rows = 24 } = options
  const size = { columns, rows }
  const screen = createTextScreen(columns, rows)
  const watchers = new Set<() => void>()
  let events: ConsoleEvents | undefined
  const drawn = (): void => {
    for (const look of watchers) look()
  }
  let written = ''
  const write = (text: string): void => {
    written += text
    screen.write(text)
    drawn()
  }
  const console: Console = {
    input: new PassThrough() as unknown as ReadStream,
    output: new PassThrough() as unknown as WriteStream,
    size: () => size,
    write,
    setOtherScreen: (isOn) => {
      if (isOn !== screen.isOther()) write(isOn ? '\x1b[?1049h' : '\x1b[?1049l')
    },
    takeInterrupts: () => () => undefined,
    open: (told) => {
      events = told
    },
    close: () => undefined,
    suspend: async () => undefined,
  }
  const texts = { out: '', err: '' }
  const stop = new AbortController()
  const given = bench.worldFor(texts, { TERM: 'screen', NO_COLOR: '1', ...env })
  const shown = (text: string): void => write(text.replaceAll('\n', '\r\n'))
  const world: World = {
    ...given,
    console,
    print: (text) => {
      given.print(text)
      shown(text)
    },
    printError: (text) => {
      given.printError(text)
      shown(text)
    },
  }
  const ended = runCli(args, { ...world, signal: stop.signal }).then((exit) => ({ exit, err: texts.err }))
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  const input = (text: string): void => events?.input(text)
  return {
    type: input,
    press: (...names) => names.forEach((name) => input(KEYS[name])),
    paste: (text) => {
      const all = `\x1b[200~${text}\x1b[201~`
      for (let from = 0; from < all.length; from += PASTED_CHARS) input(all.slice(from, from + PASTED_CHARS))
    },
    resize: (columnsNow, rowsNow) => {
      Object.assign(size, { columns: columnsNow, rows: rowsNow })
      screen.resize(columnsNow, rowsNow)
      events?.resized()
    },
    screen: screen.shown,
    written: () => written,
    until: async (wanted) => await until(wanted, screen.shown, watchers, ended),
    ended,
  }
}

async function until(
  wanted: RegExp,
  screen: () => string,
  watchers: Set<() => void>,
  ended: Promise<unknown>,
): Promise<string> {
  return await new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer)
      watchers.delete(look)
    }
    const fail = (why: string): void => {
      leave()
      reject(new Error(`${String(wanted)} did not come${why}. The screen:\n${screen()}`))
    }
    const look = (): void => {
      const shown = screen()
      if (!wanted.test(shown)) return
      leave()
      resolve(shown)
    }
    const timer = setTimeout(() => fail(''), WAIT_MS)
    watchers.add(look)
    look()
    void ended.then(() => fail(' before the command ended')).catch(reject)
  })
}
