import type { ReadStream, WriteStream } from 'node:tty'

// The terminal itself: the only file of the interface that touches it. Whatever happens, we leave it as we found it.

export interface ConsoleEvents {
  readonly input: (text: string) => void
  readonly resized: () => void
  /** The terminal is gone: closed window, lost connection. */
  readonly closed: () => void
}

export interface Console {
  readonly input: ReadStream
  readonly output: WriteStream
  readonly size: () => { readonly columns: number; readonly rows: number }
  readonly write: (text: string) => void
  /** The alternate screen. It has no scrollback, so leaving it leaves no trace. */
  readonly setOtherScreen: (isOn: boolean) => void
  /** Where keys do not come one by one, sends Ctrl-C here instead of ending the program. Returns a function that stops this. */
  readonly takeInterrupts: (interrupted: () => void) => () => void
  /** From here on keys come one by one, until `close`. */
  readonly open: (events: ConsoleEvents) => void
  readonly close: () => void
  /** Gives the terminal back to the shell (Ctrl-Z), and returns when it is ours again. */
  readonly suspend: () => Promise<void>
}

/** What drawing needs from it. */
export type Surface = Pick<Console, 'size' | 'write' | 'setOtherScreen'>

const COLUMNS_DEFAULT = 80
const ROWS_DEFAULT = 24
/** Marks pastes, and reports Shift-Enter and the like if the terminal can. */
const ENTER = '\x1b[?2004h\x1b[>1u'
const NOT_STOPPED_MS = 200
const OTHER_SCREEN = '\x1b[?1049h'
const OWN_SCREEN = '\x1b[?1049l\x1b[?25h'
const LEAVE = '\x1b[<u\x1b[?2004l\x1b[?2026l\x1b[?25h'

/** `stop` is what Ctrl-C and a closed terminal normally do. */
export function createConsole(
  input: ReadStream,
  output: WriteStream,
  stop: () => void = () => undefined,
): Console {
  let events: ConsoleEvents | undefined
  let isFirst = true
  let isOther = false
  const onData = (text: string): void => {
    // Text typed before we took over the terminal has line feeds instead of Enter.
    events?.input(isFirst ? text.replaceAll('\n', '\r') : text)
    isFirst = false
  }
  const onResize = (): void => events?.resized()
  const onClosed = (): void => events?.closed()
  const leave = (): void => {
    output.write(isOther ? OWN_SCREEN + LEAVE : LEAVE)
    isOther = false
    // If the terminal is gone already, there is nothing to restore.
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
        // Signals the whole group, as the terminal does: npm may be between the shell and us.
        process.kill(0, 'SIGTSTP')
        // Without a shell that controls jobs nothing stops us, and nothing will continue us.
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
