import { COMMAND_NAMES, commandLabel } from '../commands/command-names.ts'
import type { Surface } from '../console.ts'
import { completionAt, rankMatches } from '../input/complete-text.ts'
import type { Key } from '../input/decode-keys.ts'
import type { Pager } from '../pager/create-pager.ts'
import { lineWidth, paintLine, span, wrapLine, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth } from '../text/text-width.ts'
import { drawAgain, drawFrame, NO_FRAME, rowsAbove, type Frame } from './draw-frame.ts'
import { layoutLive } from './live-region.ts'
import { createPageView } from './page-view.ts'
import type { ScreenState } from './screen-state.ts'

/** Shortest time between two frames; changes in between are drawn together. */
const FRAME_MS = 16
const FILES_SHOWN_MAX = 6
const HANG = [span('  ')]

export interface CanvasOptions {
  readonly hasColour: boolean
  readonly now: () => number
}

export interface Canvas {
  readonly columns: () => number
  readonly show: (lines: readonly StyledLine[]) => void
  readonly draw: () => void
  readonly redraw: () => void
  readonly clear: () => void
  /** Draws pending lines first; lines that come meanwhile appear when the page closes. A key goes to what the screen shows. */
  readonly openPage: (pager: Pager, closed: () => void) => void
  readonly pressInPage: (key: Key) => void
  readonly closePage: () => void
}

export function createCanvas(
  console: Surface,
  state: ScreenState,
  { hasColour, now }: CanvasOptions,
): Canvas {
  let frame = NO_FRAME
  let added: string[] = []
  let timer: NodeJS.Timeout | undefined
  let drawnAt = 0
  // The last column stays free: some terminals wrap when it is written, others when more text comes.
  const columns = (): number => Math.max(10, console.size().columns - 1)
  const paint = (spans: StyledLine): string => paintLine(spans, hasColour)
  const page = createPageView(console, state, paint)
  let isResized = false
  const stop = (): void => {
    clearTimeout(timer)
    timer = undefined
  }
  const flush = (): void => {
    stop()
    drawnAt = now()
    if (state.pager) return page.draw()
    const next = frameOf(state, { columns: columns(), rows: console.size().rows, now: now() }, paint)
    console.write(drawFrame(frame, added, next))
    frame = next
    added = []
  }
  const draw = (): void => {
    if (timer) return
    timer = setTimeout(flush, Math.max(0, FRAME_MS - (now() - drawnAt)))
  }
  const redraw = (): void => {
    isResized = state.pager !== undefined
    if (isResized) return page.draw()
    stop()
    const next = frameOf(state, { columns: columns(), rows: console.size().rows, now: now() }, paint)
    console.write(drawAgain(rowsAbove(frame, console.size().columns), next))
    frame = next
    if (added.length > 0) draw()
  }
  return {
    columns,
    draw,
    show: (lines) => {
      for (const spans of lines) for (const each of wrapLine(spans, columns(), HANG)) added.push(paint(each))
      draw()
    },
    redraw,
    openPage: (pager, closed) => {
      if (timer) flush()
      state.pager = pager
      page.open(() => {
        if (isResized) redraw()
        else flush()
        closed()
      })
    },
    pressInPage: page.press,
    closePage: page.close,
    clear: () => {
      page.close()
      stop()
      console.write(drawFrame(frame, added, NO_FRAME))
      frame = NO_FRAME
      added = []
    },
  }
}

function frameOf(
  state: ScreenState,
  size: { readonly columns: number; readonly rows: number; readonly now: number },
  paint: (spans: StyledLine) => string,
): Frame {
  const { live, editor, asked, hint, completion } = state
  const seconds = Math.floor((size.now - state.activeSince) / 1_000)
  // While the user is asked, no activity is shown: the call's time begins with the answer.
  const isIdle = live.activity === '' || asked !== undefined || state.asking !== undefined
  const working = isIdle ? '' : activityText(live.activity, seconds, size.columns)
  const { lines, cursor } = layoutLive(
    {
      streaming: live.streaming(),
      activity: working,
      printing: isIdle ? [] : live.printing(),
      queued: state.queue.flatMap((act) => (act.kind === 'said' ? [act.text] : [])),
      proposal: asked?.proposal() ?? [],
      picker: asked?.picker,
      editor,
      completions: completionLabels(state),
      completion,
      status: live.status,
      agents: live.agents(),
      hint,
    },
    size.columns,
    size.rows,
  )
  return { lines: lines.map(paint), widths: lines.map(lineWidth), cursor }
}

/** However long the activity's name is, the seconds and the key that ends it stay visible after it. */
function activityText(activity: string, seconds: number, columns: number): string {
  const end = `… ${seconds} s · Esc interrupts`
  const room = columns - end.length - '✻ '.length
  return `✻ ${cutToWidth(activity, Math.max(room, ACTIVITY_COLUMNS_MIN)).replace(/…$/, '')}${end}`
}

const ACTIVITY_COLUMNS_MIN = 10

function completionLabels(state: ScreenState): readonly string[] {
  const found = candidates(state)
  return completionAt(state.editor)?.kind === 'command' ? found.map(commandLabel) : found
}

export function candidates({ editor, files }: ScreenState): readonly string[] {
  const completion = completionAt(editor)
  if (!completion) return []
  return completion.kind === 'command'
    ? rankMatches(COMMAND_NAMES, completion.query, COMMAND_NAMES.length)
    : rankMatches(files ?? [], completion.query, FILES_SHOWN_MAX)
}
