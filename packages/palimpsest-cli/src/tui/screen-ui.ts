import { sentenceOf } from '../report-error.ts'
import { toPrintable } from '../agent/printable.ts'
import type { Console } from './console.ts'
import { emptyEditor, withEarlier, withWords } from './input/edit-text.ts'
import { createQueue } from '../agent/permissions/create-permit.ts'
import { createPicker } from './input/pick-item.ts'
import { createPager } from './pager/create-pager.ts'
import type { PageSource } from './pager/page-source.ts'
import { createCanvas, type Canvas, type CanvasOptions } from './screen/canvas.ts'
import { createMarks } from './screen/terminal-marks.ts'
import { createKeyboard } from './screen/keyboard.ts'
import { createScreenState, give, nextAct, type ScreenState } from './screen/screen-state.ts'
import { COMPACTING, saidLines, writingActivity } from './screen/turn-lines.ts'
import { line, type StyledLine } from './text/styled-line.ts'
import type { Question, Ui } from './ui.ts'

// The screen: lines that stay go into the terminal's scrollback; the rest is a few lines at the bottom that are redrawn.

const TICK_MS = 1_000

export interface ScreenOptions extends CanvasOptions {
  /** Aborts when the program should end. */
  readonly signal: AbortSignal
  /** Title of the window. */
  readonly title: string
}

const WAYS = {
  toRemoved: 'Ctrl-T shows what was removed',
  toAll: 'Ctrl-O shows all',
  keys: [
    ['@path', 'attach a file or an image; Tab completes'],
    ['Enter', 'send; for a new line: Alt-Enter, Ctrl-J or \\ Enter'],
    ['↑ ↓', 'recall what you typed before'],
    ['Esc', 'interrupt; twice: rewind'],
    ['Shift-Tab', 'change the mode: default, accept edits, plan'],
    ['Ctrl-B', 'move the agents you are waiting for to the background'],
    ['Ctrl-O', 'show the whole conversation, with what was compacted'],
    ['Ctrl-T', 'show what was last removed from the window'],
    ['Ctrl-C twice', 'leave'],
  ],
} as const

export function openScreen(console: Console, options: ScreenOptions): Ui {
  const state = createScreenState()
  const inLine = createQueue()
  const canvas = createCanvas(console, state, options)
  const keys = createKeyboard(state, options.now, canvas, console)
  const closed = (): void => {
    state.interrupt?.()
    state.asked?.answer(undefined)
    state.asking?.(undefined)
    canvas.closePage()
    state.queue = []
    give(state, { kind: 'quit' })
  }
  options.signal.addEventListener('abort', closed)
  console.open({ input: keys.take, resized: canvas.redraw, closed })
  const marks = createMarks(console, options)
  const ticking = setInterval(() => state.live.activity !== '' && canvas.draw(), TICK_MS)
  const page = async (source: PageSource): Promise<void> => await showPage(source, state, canvas)
  return {
    ways: WAYS,
    columns: canvas.columns,
    rows: () => console.size().rows,
    show: canvas.show,
    showSaid: (text) => canvas.show(saidLines(text, canvas.columns())),
    setLive: (parts) => {
      const isNew = parts.activity !== undefined && parts.activity !== state.live.activity
      if (isNew || parts.since !== undefined) state.activeSince = parts.since ?? options.now()
      state.live = { ...state.live, ...parts }
      canvas.draw()
    },
    setWritten: (chars) => {
      // A summary may also be written beside the conversation.
      if (!state.live.activity.startsWith(COMPACTING)) return
      state.live = { ...state.live, activity: writingActivity(state.live.activity, chars) }
      canvas.draw()
    },
    next: async () => await nextAct(state, canvas.draw),
    setInterrupt: (interrupt) => {
      state.interrupt = interrupt
      marks.setBusy(interrupt !== undefined)
    },
    // Others may ask while a question is open, so questions come one at a time.
    pick: async (question, signal) => await inLine(async () => await pick(state, question, canvas, signal)),
    ask: async (title, signal) => await inLine(async () => await ask(state, title, canvas, signal)),
    page,
    setPages: ({ transcript, removed }) => {
      const hint = (text: string): void => {
        state.hint = text
        canvas.draw()
      }
      state.openTranscript = opener(transcript, page, hint)
      state.openRemoved = opener(removed, page, hint)
    },
    ...inputSetters(state, canvas),
    close: () => {
      options.signal.removeEventListener('abort', closed)
      clearInterval(ticking)
      marks.close()
      canvas.clear()
      console.close()
    },
  }
}

/** The setters that the input works with. */
function inputSetters(
  state: ScreenState,
  canvas: Canvas,
): Pick<Ui, 'setModeKey' | 'setBackgroundKey' | 'setFiles' | 'setHistory' | 'addHistory' | 'setInput'> {
  return {
    setModeKey: (change) => {
      state.changeMode = change
    },
    setBackgroundKey: (move) => {
      state.toBackground = move
    },
    setFiles: (list) => {
      state.files = undefined
      state.listFiles = list
    },
    setHistory: (said) => {
      state.editor = { ...emptyEditor(said), text: state.editor.text, cursor: state.editor.cursor }
    },
    addHistory: (earlier) => {
      state.editor = withEarlier(state.editor, earlier)
    },
    setInput: (text) => {
      state.editor = withWords(state.editor, text)
      canvas.draw()
    },
  }
}

/** Shown until a key closes it; the conversation continues meanwhile. */
async function showPage(source: PageSource, state: ScreenState, canvas: Canvas): Promise<void> {
  if (state.pager) return await source.close()
  await new Promise<void>((resolve) => canvas.openPage(createPager(source, canvas.draw), resolve))
  await source.close()
}

/** The user may press a key at any time: only one lookup runs at a time, and a failure becomes a hint. */
function opener(
  find: () => Promise<PageSource | string>,
  page: (source: PageSource) => Promise<void>,
  hint: (text: string) => void,
): () => void {
  let isBusy = false
  return () => {
    if (isBusy) return
    isBusy = true
    void find()
      .then(async (found) => {
        if (typeof found === 'string') hint(found)
        else await page(found)
      })
      .catch((error: unknown) => hint(sentenceOf(error)))
      .finally(() => {
        isBusy = false
      })
  }
}

async function pick(
  state: ScreenState,
  { title, items, proposal = [], isSearched = false }: Question,
  { draw }: Canvas,
  signal?: AbortSignal,
): Promise<string | undefined> {
  return await settled(signal, draw, (answer) => {
    state.asked = {
      picker: createPicker(toPrintable(title), items, isSearched),
      proposal: asFunction(proposal),
      answer,
    }
    return () => (state.asked = undefined)
  })
}

async function ask(
  state: ScreenState,
  title: string,
  { draw, show }: Canvas,
  signal?: AbortSignal,
): Promise<string | undefined> {
  show([line(toPrintable(title), 'bold')])
  return await settled(signal, draw, (answer) => {
    state.asking = answer
    return () => (state.asking = undefined)
  })
}

/** An answer, or undefined if the signal comes first. */
async function settled(
  signal: AbortSignal | undefined,
  draw: () => void,
  begin: (answer: (value: string | undefined) => void) => () => void,
): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const done = (value: string | undefined): void => {
      signal?.removeEventListener('abort', onAbort)
      end()
      draw()
      resolve(value)
    }
    const onAbort = (): void => done(undefined)
    const end = begin(done)
    if (signal?.aborted) return done(undefined)
    signal?.addEventListener('abort', onAbort)
    draw()
  })
}

function asFunction(proposal: NonNullable<Question['proposal']>): () => readonly StyledLine[] {
  return typeof proposal === 'function' ? proposal : () => proposal
}
