import { splitGraphemes } from '../text/text-width.ts'
import type { Key } from './decode-keys.ts'
import { foldPaste, markerBefore, pastedImage } from './pasted-text.ts'

// The input line as a value: text, cursor, earlier inputs. Each key makes a new one.

export interface Editor {
  readonly text: string
  /** Index into the text, between two characters. */
  readonly cursor: number
  /** Earlier inputs, oldest first. */
  readonly history: readonly string[]
  /** Index of the input that is shown; the length of `history` means the one being written. */
  readonly at: number
  /** What was being written when the user opened the history. */
  readonly draft: string
  /** Long pastes, by the number in their marker. */
  readonly pastes: readonly string[]
}

export function emptyEditor(history: readonly string[] = []): Editor {
  return { text: '', cursor: 0, history, at: history.length, draft: '', pastes: [] }
}

/** The input joins the history and becomes empty. */
export function submitted(editor: Editor): Editor {
  const { text, history } = editor
  const isNew = text.trim() !== '' && history.at(-1) !== text
  const said = isNew ? [...history, text] : history
  return { ...emptyEditor(said), pastes: editor.pastes }
}

/** Adds older inputs before the known ones; a user who goes through them stays in place. */
export function withEarlier(editor: Editor, earlier: readonly string[]): Editor {
  return { ...editor, history: [...earlier, ...editor.history], at: editor.at + earlier.length }
}

export function withText(editor: Editor, text: string): Editor {
  return { ...editor, text, cursor: text.length }
}

export function insertText(editor: Editor, text: string): Editor {
  const { text: old, cursor } = editor
  return { ...editor, text: old.slice(0, cursor) + text + old.slice(cursor), cursor: cursor + text.length }
}

/** A long paste becomes a marker, and a path to an image a mention of it. */
function insertPaste(editor: Editor, pasted: string): Editor {
  const image = pastedImage(pasted)
  if (image !== undefined) return insertText(editor, image)
  const { text, pastes } = foldPaste(pasted, editor.pastes)
  return insertText({ ...editor, pastes }, text)
}

/** Words to continue with, whatever their length. */
export function withWords(editor: Editor, words: string): Editor {
  const isLong = words.length > SHOWN_CHARS_MAX
  return isLong ? insertPaste(withText(editor, ''), words) : withText(editor, words)
}

/** A longer text would be laid out with every key, so it becomes a marker. */
const SHOWN_CHARS_MAX = 20_000

/** Undefined: the key means nothing here. The caller handles Enter, except for the ways to begin a new line. */
export function editText(editor: Editor, key: Key): Editor | undefined {
  if (key.kind === 'text') return insertText(editor, key.text)
  if (key.kind === 'paste') return insertPaste(editor, key.text)
  if (key.ctrl) return editWithCtrl(editor, key.name)
  if (key.alt) return editWithAlt(editor, key.name)
  switch (key.name) {
    case 'enter':
      return key.shift ? insertText(editor, '\n') : continuedLine(editor)
    case 'backspace':
      return cutBetween(editor, before(editor), editor.cursor)
    case 'delete':
      return cutBetween(editor, editor.cursor, after(editor))
    case 'left':
      return { ...editor, cursor: before(editor) }
    case 'right':
      return { ...editor, cursor: after(editor) }
    case 'home':
      return { ...editor, cursor: lineStart(editor) }
    case 'end':
      return { ...editor, cursor: lineEnd(editor) }
    case 'up':
      return moveLine(editor, -1)
    case 'down':
      return moveLine(editor, 1)
    default:
      return undefined
  }
}

function editWithCtrl(editor: Editor, name: string): Editor | undefined {
  switch (name) {
    case 'j':
    case 'enter':
      return insertText(editor, '\n')
    case 'a':
      return { ...editor, cursor: lineStart(editor) }
    case 'e':
      return { ...editor, cursor: lineEnd(editor) }
    case 'b':
      return { ...editor, cursor: before(editor) }
    case 'f':
      return { ...editor, cursor: after(editor) }
    case 'h':
      return cutBetween(editor, before(editor), editor.cursor)
    case 'u':
      return cutBetween(editor, lineStart(editor), editor.cursor)
    case 'k':
      return cutBetween(editor, editor.cursor, lineEnd(editor))
    case 'w':
      return cutBetween(editor, wordBefore(editor), editor.cursor)
    case 'p':
      return moveLine(editor, -1)
    case 'n':
      return moveLine(editor, 1)
    case 'left':
      return { ...editor, cursor: wordBefore(editor) }
    case 'right':
      return { ...editor, cursor: wordAfter(editor) }
    default:
      return undefined
  }
}

function editWithAlt(editor: Editor, name: string): Editor | undefined {
  switch (name) {
    case 'enter':
      return insertText(editor, '\n')
    case 'b':
    case 'left':
      return { ...editor, cursor: wordBefore(editor) }
    case 'f':
    case 'right':
      return { ...editor, cursor: wordAfter(editor) }
    case 'backspace':
      return cutBetween(editor, wordBefore(editor), editor.cursor)
    case 'd':
      return cutBetween(editor, editor.cursor, wordAfter(editor))
    default:
      return undefined
  }
}

/** A backslash before Enter begins a new line, for terminals that report no other way. */
function continuedLine(editor: Editor): Editor | undefined {
  const { text, cursor } = editor
  if (text[cursor - 1] !== '\\') return undefined
  return insertText(cutBetween(editor, cursor - 1, cursor), '\n')
}

function cutBetween(editor: Editor, from: number, to: number): Editor {
  return { ...editor, text: editor.text.slice(0, from) + editor.text.slice(to), cursor: from }
}

/** Whole characters, and the marker of a paste as one. */
function before({ text, cursor }: Editor): number {
  const head = text.slice(0, cursor)
  const marker = markerBefore(head)
  return cursor - (marker ?? splitGraphemes(lastOf(head)).at(-1)?.length ?? 0)
}

function after({ text, cursor }: Editor): number {
  return cursor + (splitGraphemes(text.slice(cursor, cursor + NEAR_CHARS))[0]?.length ?? 0)
}

/** No character that people see as one is longer, so the rest of the text does not matter. */
const NEAR_CHARS = 64

function lastOf(text: string): string {
  return text.slice(-NEAR_CHARS)
}

function lineStart({ text, cursor }: Editor): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1
}

function lineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

function wordBefore({ text, cursor }: Editor): number {
  return text
    .slice(0, cursor)
    .trimEnd()
    .replace(/(?<!\S)\S+$/, '').length
}

function wordAfter({ text, cursor }: Editor): number {
  return cursor + (/^\s*\S+/.exec(text.slice(cursor))?.[0].length ?? text.length - cursor)
}

/** Moves within the text if there is such a line, otherwise through earlier inputs. */
function moveLine(editor: Editor, by: 1 | -1): Editor {
  const { text, cursor } = editor
  const start = lineStart(editor)
  const column = cursor - start
  if (by < 0 && start > 0) {
    const above = lineStart({ ...editor, cursor: start - 1 })
    return { ...editor, cursor: Math.min(above + column, start - 1) }
  }
  const end = lineEnd(editor)
  if (by > 0 && end < text.length) {
    const below = lineEnd({ ...editor, cursor: end + 1 })
    return { ...editor, cursor: Math.min(end + 1 + column, below) }
  }
  return recall(editor, by)
}

function recall(editor: Editor, by: 1 | -1): Editor {
  const { history, at, text } = editor
  const to = at + by
  if (to < 0 || to > history.length) return editor
  const draft = at === history.length ? text : editor.draft
  const shown = to === history.length ? draft : (history[to] ?? '')
  return withWords({ ...editor, at: to, draft }, shown)
}
