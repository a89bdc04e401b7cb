import { spawnSync } from 'node:child_process'

import { toPrintable } from '../agent/printable.ts'
import { COMMAND_NAMES } from './commands/command-names.ts'
import type { Console } from './console.ts'
import { completed, completionAt, rankMatches } from './input/complete-text.ts'
import { decodeKeys, flushKeys, KEYS_START, type Key } from './input/decode-keys.ts'
import { editText, emptyEditor, submitted, withText, type Editor } from './input/edit-text.ts'
import { unfoldPastes } from './input/pasted-text.ts'
import { createPicker, pickItem, type Picker } from './input/pick-item.ts'
import { drawAgain, drawFrame, NO_FRAME, rowsAbove, type Frame } from './screen/draw-frame.ts'
import { layoutLive } from './screen/live-region.ts'
import { line, lineWidth, paintLine, span, wrapLine, type StyledLine } from './text/styled-line.ts'
import type { LiveParts, Question, Ui, UserAct } from './ui.ts'

// The screen: lines that stay go into the terminal's scrollback, the rest is a few lines at the bottom that are drawn again.

/** After a lone escape character: so long for the rest of a sequence, over a slow line too. */
const ESCAPE_MS = 50
/** A second key within this is meant together with the first. */
const TWICE_MS = 1_500
/** Between two frames; what happens meanwhile is drawn at once. */
const FRAME_MS = 16
const TICK_MS = 1_000
const COMPLETIONS_MAX = 6
const NO_LIVE: LiveParts = { streaming: [], activity: '', status: [] }

interface Asked {
  readonly picker: Picker
  readonly proposal: readonly StyledLine[]
  readonly answer: (value: string | undefined) => void
}

interface State {
  live: LiveParts
  editor: Editor
  queue: UserAct[]
  waiting: ((act: UserAct) => void) | undefined
  interrupt: (() => void) | undefined
  asked: Asked | undefined
  /** A line of own words is asked for. */
  asking: ((text: string | undefined) => void) | undefined
  hint: string
  completion: number
  files: readonly string[] | undefined
  listFiles: () => Promise<readonly string[]>
  activeSince: number
}

export interface ScreenOptions {
  readonly hasColour: boolean
  readonly now: () => number
  readonly pager: string
}

export function openScreen(console: Console, options: ScreenOptions): Ui {
  const state: State = {
    live: NO_LIVE,
    editor: emptyEditor(),
    queue: [],
    waiting: undefined,
    interrupt: undefined,
    asked: undefined,
    asking: undefined,
    hint: '',
    completion: 0,
    files: undefined,
    listFiles: async () => [],
    activeSince: 0,
  }
  const canvas = createCanvas(console, state, options)
  const keys = createKeyboard(state, options.now, canvas, console)
  console.open({
    input: keys.take,
    resized: canvas.redraw,
    closed: () => {
      state.interrupt?.()
      state.asked?.answer(undefined)
      state.asking?.(undefined)
      state.queue = []
      give(state, { kind: 'quit' })
    },
  })
  const ticking = setInterval(() => state.live.activity !== '' && canvas.draw(), TICK_MS)
  return {
    columns: canvas.columns,
    show: canvas.show,
    setLive: (parts) => {
      if (parts.activity !== undefined && state.live.activity === '') state.activeSince = options.now()
      state.live = { ...state.live, ...parts }
      canvas.draw()
    },
    next: async () => await nextAct(state, canvas.draw),
    setInterrupt: (interrupt) => {
      state.interrupt = interrupt
    },
    pick: async (question, signal) => await pick(state, question, canvas, signal),
    ask: async (title, signal) => await ask(state, title, canvas, signal),
    page: async (text) => {
      canvas.clear()
      console.close()
      spawnSync(options.pager, { input: text, stdio: ['pipe', 'inherit', 'inherit'], shell: true })
      console.open({ input: keys.take, resized: canvas.redraw, closed: () => give(state, { kind: 'quit' }) })
      canvas.draw()
    },
    setFiles: (list) => {
      state.files = undefined
      state.listFiles = list
    },
    setHistory: (said) => {
      state.editor = { ...emptyEditor(said), text: state.editor.text, cursor: state.editor.cursor }
    },
    setInput: (text) => {
      state.editor = withText(state.editor, text)
      canvas.draw()
    },
    close: () => {
      clearInterval(ticking)
      canvas.clear()
      console.close()
    },
  }
}

function give(state: State, act: UserAct): void {
  const { waiting } = state
  state.waiting = undefined
  if (waiting) waiting(act)
  else state.queue.push(act)
}

async function nextAct(state: State, draw: () => void): Promise<UserAct> {
  const queued = state.queue.shift()
  draw()
  if (queued) return queued
  return await new Promise((resolve) => {
    state.waiting = resolve
  })
}

async function pick(
  state: State,
  { title, items, proposal = [], isSearched = false }: Question,
  { draw }: Canvas,
  signal?: AbortSignal,
): Promise<string | undefined> {
  return await settled(signal, draw, (answer) => {
    state.asked = { picker: createPicker(toPrintable(title), items, isSearched), proposal, answer }
    return () => (state.asked = undefined)
  })
}

async function ask(
  state: State,
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

/** An answer, or none when the signal comes first. */
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

interface Canvas {
  readonly columns: () => number
  readonly show: (lines: readonly StyledLine[]) => void
  readonly draw: () => void
  readonly redraw: () => void
  readonly clear: () => void
}

function createCanvas(console: Console, state: State, { hasColour, now }: ScreenOptions): Canvas {
  let frame = NO_FRAME
  let added: string[] = []
  let timer: NodeJS.Timeout | undefined
  let drawnAt = 0
  // The last column stays free: some terminals break the line when it is written, some when more comes.
  const columns = (): number => Math.max(10, console.size().columns - 1)
  const paint = (spans: StyledLine): string => paintLine(spans, hasColour)
  const flush = (): void => {
    timer = undefined
    drawnAt = now()
    const next = frameOf(state, { columns: columns(), rows: console.size().rows, now: now() }, paint)
    console.write(drawFrame(frame, added, next))
    frame = next
    added = []
  }
  const draw = (): void => {
    if (timer) return
    timer = setTimeout(flush, Math.max(0, FRAME_MS - (now() - drawnAt)))
  }
  const stop = (): void => {
    clearTimeout(timer)
    timer = undefined
  }
  return {
    columns,
    draw,
    show: (lines) => {
      added.push(...lines.flatMap((spans) => wrapLine(spans, columns(), [span('  ')])).map(paint))
      draw()
    },
    redraw: () => {
      stop()
      const next = frameOf(state, { columns: columns(), rows: console.size().rows, now: now() }, paint)
      console.write(drawAgain(rowsAbove(frame, console.size().columns), next))
      frame = next
      if (added.length > 0) draw()
    },
    clear: () => {
      stop()
      console.write(drawFrame(frame, added, NO_FRAME))
      frame = NO_FRAME
      added = []
    },
  }
}

function frameOf(
  state: State,
  size: { readonly columns: number; readonly rows: number; readonly now: number },
  paint: (spans: StyledLine) => string,
): Frame {
  const { live, editor, asked, hint, completion } = state
  const seconds = Math.floor((size.now - state.activeSince) / 1_000)
  const working = live.activity === '' ? '' : `✻ ${live.activity}… ${seconds} s · Esc interrupts`
  const { lines, cursor } = layoutLive(
    {
      streaming: live.streaming,
      activity: working,
      queued: state.queue.flatMap((act) => (act.kind === 'said' ? [act.text] : [])),
      proposal: asked?.proposal ?? [],
      picker: asked?.picker,
      editor,
      completions: candidates(state),
      completion,
      status: live.status,
      hint,
    },
    size.columns,
    size.rows,
  )
  return { lines: lines.map(paint), widths: lines.map(lineWidth), cursor }
}

function candidates({ editor, files }: State): readonly string[] {
  const completion = completionAt(editor)
  if (!completion) return []
  const known = completion.kind === 'command' ? COMMAND_NAMES : (files ?? [])
  return rankMatches(known, completion.query, COMPLETIONS_MAX)
}

interface Keyboard {
  readonly take: (text: string) => void
}

function createKeyboard(state: State, now: () => number, canvas: Canvas, console: Console): Keyboard {
  let decoder = KEYS_START
  let timer: NodeJS.Timeout | undefined
  let last = { name: '', at: 0 }
  const press = (key: Key): void => {
    const name = key.kind === 'key' ? `${key.ctrl ? 'ctrl-' : ''}${key.name}` : ''
    const isTwice = name !== '' && name === last.name && now() - last.at < TWICE_MS
    last = { name, at: isTwice ? 0 : now() }
    state.hint = ''
    if (name === 'ctrl-z') return void console.suspend().then(canvas.draw)
    pressKey(state, key, name, isTwice)
  }
  return {
    take: (text) => {
      clearTimeout(timer)
      const decoded = decodeKeys(decoder, text)
      decoder = decoded.state
      for (const key of decoded.keys) press(key)
      if (decoder.pending !== '')
        timer = setTimeout(() => {
          const flushed = flushKeys(decoder)
          decoder = flushed.state
          for (const key of flushed.keys) press(key)
          canvas.draw()
        }, ESCAPE_MS)
      lookUpFiles(state, canvas.draw)
      canvas.draw()
    },
  }
}

/** Only where a file is wanted. */
function lookUpFiles(state: State, draw: () => void): void {
  if (state.files !== undefined || completionAt(state.editor)?.kind !== 'file') return
  state.files = []
  void state.listFiles().then((files) => {
    state.files = files
    draw()
  })
}

function pressKey(state: State, key: Key, name: string, isTwice: boolean): void {
  if (state.asked) return pressInPicker(state, state.asked, key)
  if (name === 'ctrl-c') return pressCtrlC(state, isTwice)
  if (name === 'escape') return pressEscape(state, isTwice)
  if (name === 'ctrl-d' && state.editor.text === '') return give(state, { kind: 'quit' })
  if (name === 'ctrl-o') return give(state, { kind: 'transcript' })
  if (pressInCompletion(state, name)) return
  const edited = editText(state.editor, key)
  if (edited) {
    state.completion = 0
    state.editor = edited
  } else if (name === 'enter') submit(state)
}

function pressInPicker(state: State, asked: Asked, key: Key): void {
  const step = pickItem(asked.picker, key)
  if (step.kind === 'going') state.asked = { ...asked, picker: step.picker }
  else asked.answer(step.kind === 'picked' ? step.value : undefined)
}

function pressCtrlC(state: State, isTwice: boolean): void {
  if (isTwice) {
    state.interrupt?.()
    state.queue = []
    return give(state, { kind: 'quit' })
  }
  state.asking?.(undefined)
  if (state.editor.text !== '') state.editor = withText(state.editor, '')
  else state.interrupt?.()
  state.hint = 'Ctrl-C again quits'
}

function pressEscape(state: State, isTwice: boolean): void {
  state.asking?.(undefined)
  if (state.interrupt) {
    state.interrupt()
    // What was waiting to be said is the user's to decide about again.
    const waiting = state.queue.flatMap((act) => (act.kind === 'said' ? [act.text] : []))
    state.queue = state.queue.filter(({ kind }) => kind !== 'said')
    const text = [...waiting, state.editor.text].filter((part) => part !== '').join('\n')
    state.editor = withText(state.editor, text)
    return
  }
  if (isTwice)
    return state.editor.text === ''
      ? give(state, { kind: 'rewind' })
      : void (state.editor = withText(state.editor, ''))
  state.hint = state.editor.text === '' ? 'Esc again rewinds the conversation' : 'Esc again empties the input'
}

/** Whether the key was meant for the list of what could be completed. */
function pressInCompletion(state: State, name: string): boolean {
  const completion = completionAt(state.editor)
  const found = candidates(state)
  if (!completion || found.length === 0) return false
  const chosen = found[Math.min(state.completion, found.length - 1)] ?? ''
  if (name === 'up' || name === 'down') {
    const to = state.completion + (name === 'down' ? 1 : -1)
    state.completion = (to + found.length) % found.length
    return true
  }
  const isWhole = chosen === completion.query
  if (name === 'tab' || (name === 'enter' && !isWhole && completion.query !== '')) {
    state.editor = completed(state.editor, completion, chosen)
    state.completion = 0
    // A command that is chosen is meant; a path is a part of what is being said.
    if (name === 'enter' && completion.kind === 'command') submit(state)
    return true
  }
  return false
}

function submit(state: State): void {
  const { text, pastes } = state.editor
  state.editor = submitted(state.editor)
  const whole = unfoldPastes(text, pastes)
  if (state.asking) return state.asking(whole)
  if (whole.trim() !== '') give(state, { kind: 'said', text: whole })
}
