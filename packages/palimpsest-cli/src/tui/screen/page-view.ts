import { sentenceOf } from '../../report-error.ts'
import type { Surface } from '../console.ts'
import type { Key } from '../input/decode-keys.ts'
import type { StyledLine } from '../text/styled-line.ts'
import { drawPage } from './draw-frame.ts'
import type { ScreenState } from './screen-state.ts'

// A long text on the terminal's other screen. What the conversation shows meanwhile waits, and is there when this one is left.

export interface PageView {
  /** Told when it was left. */
  readonly open: (closed: () => void) => void
  readonly draw: () => void
  readonly press: (key: Key) => void
  readonly close: () => void
}

export function createPageView(
  console: Surface,
  state: ScreenState,
  paint: (spans: StyledLine) => string,
): PageView {
  let work: Promise<void> = Promise.resolve()
  let closed: () => void = () => undefined
  const size = () => {
    const { columns, rows } = console.size()
    return { columns: Math.max(10, columns - 1), rows: Math.max(2, rows) }
  }
  const show = async (): Promise<void> => {
    const news = state.asked || state.asking ? 'a question is asked: q goes back to it' : ''
    const lines = await state.pager?.frame(size(), news)
    if (lines && state.pager) console.write(drawPage(lines.map(paint)))
  }
  const close = (): void => {
    if (!state.pager) return
    state.pager = undefined
    console.setOtherScreen(false)
    closed()
  }
  // One thing after the other: lines are read from a disk. A text that can no longer be read is left.
  const then = (step: () => Promise<void>): void => {
    work = work.then(step).catch((error: unknown) => {
      state.hint = sentenceOf(error)
      close()
    })
  }
  return {
    open: (told) => {
      closed = told
      console.setOtherScreen(true)
      then(show)
    },
    draw: () => then(show),
    press: (key) => {
      // A search that takes long is ended at once, not behind itself.
      if (key.kind === 'key' && (key.name === 'escape' || key.ctrl) && state.pager?.stop()) return
      then(async () => {
        if (!state.pager) return
        if (await state.pager.press(key, size())) await show()
        else close()
      })
    },
    close,
  }
}
