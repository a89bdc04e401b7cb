import { toPrintable } from '../../agent/printable.ts'
import type { Console } from '../console.ts'

// Signals for a user who looks elsewhere: the window title while something runs, and the bell if it took long.

export interface Marks {
  readonly setBusy: (isBusy: boolean) => void
  readonly close: () => void
}

/** After this time the user has probably looked away. */
const LONG_MS = 20_000
const KEEP_TITLE = '\x1b[22;0t'
const OLD_TITLE = '\x1b[23;0t'
const BELL = '\x07'

export function createMarks(
  { write }: Pick<Console, 'write'>,
  { title, now }: { readonly title: string; readonly now: () => number },
): Marks {
  const name = (mark: string): void => write(`\x1b]0;${mark}${toPrintable(title)}\x07`)
  let since: number | undefined
  write(KEEP_TITLE)
  name('')
  return {
    setBusy: (isBusy) => {
      if (isBusy === (since !== undefined)) return
      name(isBusy ? '✻ ' : '')
      if (since !== undefined && now() - since >= LONG_MS) write(BELL)
      since = isBusy ? now() : undefined
    },
    close: () => write(OLD_TITLE),
  }
}
