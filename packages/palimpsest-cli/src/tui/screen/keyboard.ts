import type { Console } from '../console.ts'
import { completed, completionAt } from '../input/complete-text.ts'
import { decodeKeys, flushKeys, KEYS_START, type Key } from '../input/decode-keys.ts'
import { editText, submitted, withText, withWords } from '../input/edit-text.ts'
import { unfoldPastes } from '../input/pasted-text.ts'
import { pickItem } from '../input/pick-item.ts'
import { candidates, type Canvas } from './canvas.ts'
import { give, type OpenQuestion, type ScreenState } from './screen-state.ts'

// What each key does, depending on what the screen shows.

/** How long to wait for the rest of a sequence after a lone escape character; enough for a slow line. */
const ESCAPE_MS = 50
/** A second key within this time belongs to the first. */
const TWICE_MS = 1_500

export interface Keyboard {
  readonly take: (text: string) => void
}

export function createKeyboard(
  state: ScreenState,
  now: () => number,
  canvas: Canvas,
  console: Console,
): Keyboard {
  let decoder = KEYS_START
  let timer: NodeJS.Timeout | undefined
  let last = { name: '', at: 0 }
  const press = (key: Key): void => {
    const name = key.kind === 'key' ? `${key.ctrl ? 'ctrl-' : ''}${key.name}` : ''
    const isTwice = name !== '' && name === last.name && now() - last.at < TWICE_MS
    last = { name, at: isTwice ? 0 : now() }
    state.hint = ''
    if (state.pager) return canvas.pressInPage(key)
    if (name === 'ctrl-z') return void suspend(canvas, console)
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

/** Clears the live region first: other programs write to the terminal meanwhile. */
async function suspend(canvas: Canvas, console: Console): Promise<void> {
  canvas.clear()
  await console.suspend()
  canvas.draw()
}

/** Only if the user is typing a file name. */
function lookUpFiles(state: ScreenState, draw: () => void): void {
  if (state.files !== undefined || completionAt(state.editor)?.kind !== 'file') return
  state.files = []
  void state.listFiles().then((files) => {
    state.files = files
    draw()
  })
}

function pressKey(state: ScreenState, key: Key, name: string, isTwice: boolean): void {
  if (name === 'ctrl-o') return state.openTranscript()
  if (name === 'ctrl-t') return state.openRemoved()
  if (state.asked) return pressInPicker(state, state.asked, key)
  if (name === 'tab' && key.kind === 'key' && key.shift) {
    state.hint = state.changeMode()
    return
  }
  const moved = name === 'ctrl-b' ? state.toBackground() : undefined
  if (moved !== undefined) {
    state.hint = moved
    return
  }
  if (name === 'ctrl-c') return pressCtrlC(state, isTwice)
  if (name === 'escape') return pressEscape(state, isTwice)
  if (name === 'ctrl-d' && state.editor.text === '') return give(state, { kind: 'quit' })
  if (pressInCompletion(state, name)) return
  const edited = editText(state.editor, key)
  if (edited) {
    state.completion = 0
    state.editor = edited
  } else if (name === 'enter') submit(state)
}

function pressInPicker(state: ScreenState, asked: OpenQuestion, key: Key): void {
  const step = pickItem(asked.picker, key)
  if (step.kind === 'going') state.asked = { ...asked, picker: step.picker }
  else asked.answer(step.kind === 'picked' ? step.value : undefined)
}

function pressCtrlC(state: ScreenState, isTwice: boolean): void {
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

function pressEscape(state: ScreenState, isTwice: boolean): void {
  state.asking?.(undefined)
  if (state.interrupt) {
    state.interrupt()
    // The user decides again about messages that were still waiting.
    const waiting = state.queue.flatMap((act) => (act.kind === 'said' ? [act.text] : []))
    state.queue = state.queue.filter(({ kind }) => kind !== 'said')
    const text = [...waiting, state.editor.text].filter((part) => part !== '').join('\n')
    state.editor = withWords(state.editor, text)
    return
  }
  if (isTwice)
    return state.editor.text === ''
      ? give(state, { kind: 'rewind' })
      : void (state.editor = withText(state.editor, ''))
  state.hint = state.editor.text === '' ? 'Esc again rewinds the conversation' : 'Esc again empties the input'
}

/** Whether the key was meant for the completion list. */
function pressInCompletion(state: ScreenState, name: string): boolean {
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
    // Choosing a command sends it; a path is only part of a message.
    if (name === 'enter' && completion.kind === 'command') submit(state)
    return true
  }
  return false
}

function submit(state: ScreenState): void {
  const { text, pastes } = state.editor
  state.editor = submitted(state.editor)
  const whole = unfoldPastes(text, pastes)
  if (state.asking) return state.asking(whole)
  if (whole.trim() !== '') give(state, { kind: 'said', text: whole })
}
