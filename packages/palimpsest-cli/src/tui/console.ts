import type { ReadStream, WriteStream } from 'node:tty'

// The terminal itself: the only file of the interface that touches it. Whatever happens, it is left as it was found.

export interface ConsoleEvents {
  readonly input: (text: string) => void
  readonly resized: () => void
  /** The terminal went away: closed window, lost connection. */
  readonly closed: () => void
}

export interface Console {
  readonly input: ReadStream
  readonly output: WriteStream
  readonly size: () => { readonly columns: number; readonly rows: number }
  readonly write: (text: string) => void
  /** The one that has no scrollback, for what is left again without a trace. */
  readonly setOtherScreen: (isOn: boolean) => void
  /** Ctrl-C comes here, where keys do not come one by one, and no longer ends the program. Returns what ends that. */
  readonly takeInterrupts: (interrupted: () => void) => () => void
  /** Keys come one by one from here on, until it is closed. */
  readonly open: (events: ConsoleEvents) => void
  readonly close: () => void
  /** Gives the terminal to whoever started us (Ctrl-Z), and returns when it is ours again. */
  readonly suspend: () => Promise<void>
}

/** What drawing needs of it. */
export type Surface = Pick<Console, 'size' | 'write' | 'setOtherScreen'>

const COLUMNS_DEFAULT = 80
const ROWS_DEFAULT = 24
/** Pastes are told apart; Shift-Enter and the like are told where the terminal can. */
const ENTER = '\x1b[?2004h\x1b[>1u'
const NOT_STOPPED_MS = 200
const OTHER_SCREEN = '\x1b[?1049h'
const OWN_SCREEN = '\x1b[?1049l\x1b[?25h'
const LEAVE = '\x1b[<u\x1b[?2004l\x1b[?2026l\x1b[?25h'

/** `stop` is what Ctrl-C and a closed terminal do otherwise. */
export function createConsole(
  input: ReadStream,
  output: WriteStream,
  stop: () => void = () => undefined,
): Console {
  let events: ConsoleEvents | undefined
  let isFirst = true
  let isOther = false
  const onData = (text: string): void => {
    // What was typed before the terminal was ours had its Enter turned into a line end.
    events?.input(isFirst ? text.replaceAll('\n', '\r') : text)
    isFirst = false
  }
  const onResize = (): void => events?.resized()
  const onClosed = (): void => events?.closed()
  const leave = (): void => {
    output.write(isOther ? OWN_SCREEN + LEAVE : LEAVE)
    isOther = false
    // The terminal may be gone already: then there is nothing to restore.
    if (!input.destroyed && !output.destroyed) input.setRawMode(false)
  }
  const enter = (): void => {
    input.setRawMode(true)
    output.write(ENTER)
  }
  return {
    input,
    output,
    size: () => ({ columns: output.columns || COLUMNS_DEFAULT, rows: output.rows || ROWS_DEFAULT }),
    write: (text) => void output.write(text),
    setOtherScreen: (isOn) => {
      if (isOn === isOther) return
      isOther = isOn
      output.write(isOn ? OTHER_SCREEN : OWN_SCREEN)
    },
    takeInterrupts: (interrupted) => takeInterrupts(stop, interrupted),
    open: (told) => {
      events = told
      input.setEncoding('utf8')
      input.on('data', onData).on('end', onClosed).on('error', onClosed)
      output.on('resize', onResize)
      process.off('SIGHUP', stop).on('SIGHUP', onClosed)
      process.on('exit', leave)
      enter()
      input.resume()
    },
    close: () => {
      if (!events) return
      events = undefined
      input.off('data', onData).off('end', onClosed)
      output.off('resize', onResize)
      process.off('SIGHUP', onClosed).once('SIGHUP', stop)
      process.off('exit', leave)
      leave()
      input.pause()
    },
    suspend: async () => {
      leave()
      await new Promise<void>((resolve) => {
        process.once('SIGCONT', () => resolve())
        // To the whole group, as the terminal does it: npm may stand between the shell and us.
        process.kill(0, 'SIGTSTP')
        // Where no shell looks after jobs nothing is stopped, and nothing will be continued.
        setTimeout(resolve, NOT_STOPPED_MS)
      })
      enter()
    },
  }
}

function takeInterrupts(stop: () => void, interrupted: () => void): () => void {
  process.off('SIGINT', stop)
  process.on('SIGINT', interrupted)
  return () => {
    process.off('SIGINT', interrupted)
    process.once('SIGINT', stop)
  }
}
