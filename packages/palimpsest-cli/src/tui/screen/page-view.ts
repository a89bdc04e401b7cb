import { sentenceOf } from '../../report-error.ts'
import type { Surface } from '../console.ts'
import type { Key } from '../input/decode-keys.ts'
import type { StyledLine } from '../text/styled-line.ts'
import { drawPage } from './draw-frame.ts'
import type { ScreenState } from './screen-state.ts'

// A long text on the terminal's alternate screen. Meanwhile the conversation's lines wait, and appear when the page closes.

export interface PageView {
  /** `closed` is called when the page has closed. */
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
    const news = state.asked || state.asking ? 'a question is waiting: q goes back to it' : ''
    const lines = await state.pager?.frame(size(), news)
    if (lines && state.pager) console.write(drawPage(lines.map(paint)))
  }
  const close = (): void => {
    if (!state.pager) return
    state.pager = undefined
    console.setOtherScreen(false)
    closed()
  }
  // Steps run one after another, because lines are read from disk. If the text can no longer be read, the page closes.
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
      // Ends a long search at once; in the queue the key would wait for the search itself.
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
