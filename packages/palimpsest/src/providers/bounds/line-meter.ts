import { ProviderError } from '../../errors.ts'
import { JSON_DEPTH_MAX } from '../../wire/json-depth.ts'
import { LINE_BYTES_MAX } from './answer-limits.ts'

const SPACE = 32
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const DATA = codes('data:')
/** How chat completions end; the connection may stay open after it. */
const DONE = codes('[DONE]')
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/**
 * Measures a stream of server-sent events byte by byte: how long its lines are, and how deeply the JSON of an event is nested, across all
 * of its data lines. Throws if either is too much, so that a parser after it meets neither. Returns true once the stream said that it is
 * done.
 */
export function createLineMeter(): (bytes: Uint8Array) => boolean {
  const state = { line: 0, isData: true, depth: 0, inString: false, isEscaped: false, done: 0, isDone: false }
  let before = 0
  let markBytes = 0
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] ?? 0
      if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
        // The two bytes of one line end count once.
        if (byte === CARRIAGE_RETURN || before !== CARRIAGE_RETURN) endLine(state)
      } else if (markBytes < BYTE_ORDER_MARK.length && BYTE_ORDER_MARK[markBytes] === byte) {
        markBytes++
        continue
      } else if (state.line < DATA.length) {
        state.isData &&= byte === DATA[state.line]
        state.line++
      } else {
        if (state.isData) measureByte(state, byte)
        if (++state.line > LINE_BYTES_MAX) throw tooLong()
      }
      markBytes = BYTE_ORDER_MARK.length
      before = byte
    }
    return state.isDone
  }
}

interface LineState {
  /** Bytes of this line so far. */
  line: number
  isData: boolean
  depth: number
  inString: boolean
  isEscaped: boolean
  /** How many characters of the final word this line has; -1 if it says something else. */
  done: number
  isDone: boolean
}

function endLine(state: LineState): void {
  // An empty line ends an event; a string never continues on the next line.
  if (state.line === 0) state.depth = 0
  state.isDone ||= state.done === DONE.length
  state.done = 0
  state.line = 0
  state.isData = true
  state.inString = false
  state.isEscaped = false
}

function measureByte(state: LineState, byte: number): void {
  if (state.done >= 0 && (byte !== SPACE || state.done > 0))
    state.done = byte === DONE[state.done] ? state.done + 1 : -1
  if (state.isEscaped) state.isEscaped = false
  else if (byte === QUOTE) state.inString = !state.inString
  else if (state.inString) state.isEscaped = byte === BACKSLASH
  else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
    if (++state.depth > JSON_DEPTH_MAX) throw tooDeep()
  } else if ((byte === CLOSE_BRACKET || byte === CLOSE_BRACE) && state.depth > 0) state.depth--
}

function codes(text: string): readonly number[] {
  return Array.from(text, (letter) => letter.charCodeAt(0))
}

function tooLong(): ProviderError {
  return new ProviderError(
    { kind: 'over-limit' },
    `One event of the answer is longer than ${LINE_BYTES_MAX / 1024 / 1024} MB, so it was not read to its end. Check the base URL, or ask for less at once.`,
  )
}

function tooDeep(): ProviderError {
  return new ProviderError(
    { kind: 'bad-output' },
    `An event of the answer is nested more than ${JSON_DEPTH_MAX} levels deep, which no model writes. Check the base URL.`,
  )
}
