import { codeUnits, UNITS_MAX } from '../wire/code-units.ts'
import {
  FIRST,
  FURTHER,
  LATIN_AFTER_WIDE,
  LOWER_AFTER_ACRONYM,
  WIDE,
  type Before,
  type CharClass,
  type RunKind,
} from './text-weights.ts'

// Approximates a tokenizer by a machine that reads one character at a time: each adds a weight that depends on its class and on the run
// that it begins or continues. Both tables are flat, so that a character costs two reads and an addition.

const CLASSES: readonly CharClass[] = [
  'space',
  'tab',
  'newline',
  'lower',
  'upper',
  'digit',
  'punct',
  'symbol',
  'han',
  'kana',
  'latin',
  'surrogate',
  'other',
  'repeat',
]
const ASCII_END = 128

interface State {
  readonly kind: RunKind
  /** Position in the run, from 1; positions after the last weight are all alike. */
  readonly place: number
}

const FURTHER_KINDS = Object.keys(FURTHER).filter(isFurtherKind)
const STATES: readonly State[] = [
  ...FURTHER_KINDS.flatMap((kind) => [0, ...FURTHER[kind]].map((_, index) => ({ kind, place: index + 1 }))),
  { kind: 'wide', place: 1 },
]

const PUNCT = CLASSES.indexOf('punct')
const SYMBOL = CLASSES.indexOf('symbol')
const REPEAT = CLASSES.indexOf('repeat')
const ASCII = Uint8Array.from({ length: ASCII_END }, (_, code) => CLASSES.indexOf(asciiClass(code)))
const { weights: WEIGHTS, next: NEXT } = layOut()
const START = findState('newline', 1) * CLASSES.length

/** Tokens of a text, before calibration. Not rounded, so that sums stay exact. */
export function estimateText(text: string): number {
  let tokens = 0
  let state = START
  let previous = -1
  for (let from = 0; from < text.length; from += UNITS_MAX) {
    const units = codeUnits(text.length <= UNITS_MAX ? text : text.slice(from, from + UNITS_MAX))
    const end = Math.min(text.length - from, UNITS_MAX)
    for (let i = 0; i < end; i++) {
      const code = units[i] ?? 0
      let charClass = code < ASCII_END ? (ASCII[code] ?? PUNCT) : wideClass(code)
      if (code === previous && (charClass === PUNCT || charClass === SYMBOL)) charClass = REPEAT
      previous = code
      const cell = state + charClass
      tokens += WEIGHTS[cell] ?? 0
      state = NEXT[cell] ?? START
    }
  }
  return tokens
}

/** For every state and class: the weight, and where the row of the next state begins. */
function layOut(): { weights: Float64Array; next: Uint16Array } {
  const weights = new Float64Array(STATES.length * CLASSES.length)
  const next = new Uint16Array(STATES.length * CLASSES.length)
  for (const [row, state] of STATES.entries()) {
    for (const [column, charClass] of CLASSES.entries()) {
      const step = takeStep(state, charClass)
      weights[row * CLASSES.length + column] = step.weight
      next[row * CLASSES.length + column] = findState(step.kind, step.place) * CLASSES.length
    }
  }
  return { weights, next }
}

interface Step extends State {
  readonly weight: number
}

function takeStep(state: State, charClass: CharClass): Step {
  switch (charClass) {
    case 'lower':
      return stepIntoLower(state)
    case 'repeat':
      return state.kind === 'repeat' ? stay(state, 'repeat') : { kind: 'repeat', place: 1, weight: 0 }
    case 'punct':
      // After a ruler, another mark continues the punctuation, as its second character.
      if (state.kind === 'repeat') return { kind: 'punct', place: 2, weight: FURTHER.punct[0] ?? 0 }
      return state.kind === 'punct' ? stay(state, 'punct') : begin(state, 'punct', 'punct')
    case 'space':
    case 'tab':
    case 'newline':
    case 'upper':
    case 'digit':
      return state.kind === charClass ? stay(state, charClass) : begin(state, charClass, charClass)
    case 'latin':
      return {
        kind: 'wide',
        place: 1,
        weight: state.kind === 'wide' ? LATIN_AFTER_WIDE : WIDE.latin,
      }
    case 'symbol':
    case 'han':
    case 'kana':
    case 'surrogate':
    case 'other':
      return { kind: 'wide', place: 1, weight: WIDE[charClass] }
    default:
      return charClass satisfies never
  }
}

function stepIntoLower(state: State): Step {
  switch (state.kind) {
    case 'word':
    case 'tail':
    case 'capital':
      return stay(state, state.kind)
    case 'upper':
      if (state.place > 1) return { kind: 'tail', place: 2, weight: LOWER_AFTER_ACRONYM }
      return { kind: 'capital', place: 2, weight: FURTHER.capital[0] ?? 0 }
    case 'space':
    case 'tab':
    case 'newline':
      return begin(state, 'word', 'lower')
    case 'digit':
    case 'punct':
    case 'repeat':
    case 'wide':
      return begin(state, 'tail', 'lower')
    default:
      return state.kind satisfies never
  }
}

function stay(state: State, kind: keyof typeof FURTHER): Step {
  const weights = FURTHER[kind]
  const weight = weights[Math.min(state.place, weights.length) - 1] ?? 0
  return { kind, place: Math.min(state.place + 1, weights.length + 1), weight }
}

function begin(state: State, kind: RunKind, charClass: keyof (typeof FIRST)['space']): Step {
  return { kind, place: 1, weight: FIRST[before(state)][charClass] }
}

function before(state: State): Before {
  switch (state.kind) {
    case 'space':
      return state.place === 1 ? 'space' : 'indent'
    case 'tab':
      return 'indent'
    case 'word':
    case 'tail':
    case 'capital':
    case 'upper':
      return 'letter'
    case 'repeat':
      return 'punct'
    case 'newline':
    case 'digit':
    case 'punct':
    case 'wide':
      return state.kind
    default:
      return state.kind satisfies never
  }
}

function findState(kind: RunKind, place: number): number {
  return STATES.findIndex((state) => state.kind === kind && state.place === place)
}

function isFurtherKind(kind: string): kind is keyof typeof FURTHER {
  return kind in FURTHER
}

function asciiClass(code: number): CharClass {
  const char = String.fromCharCode(code)
  if (char === ' ') return 'space'
  if (char === '\n' || char === '\r') return 'newline'
  if (char >= 'a' && char <= 'z') return 'lower'
  if (char >= 'A' && char <= 'Z') return 'upper'
  if (char >= '0' && char <= '9') return 'digit'
  return char < ' ' || code === ASCII_END - 1 ? 'tab' : 'punct'
}

const LATIN = CLASSES.indexOf('latin')
const HAN = CLASSES.indexOf('han')
const KANA = CLASSES.indexOf('kana')
const SURROGATE = CLASSES.indexOf('surrogate')
const OTHER = CLASSES.indexOf('other')

/** By Unicode block. Hangul and full-width forms cost the same as kana, Cyrillic the same as accented letters. */
function wideClass(code: number): number {
  if (code < 0x250 || (code >= 0x400 && code < 0x530)) return LATIN
  if (code >= 0x2000 && code < 0x2e80) return SYMBOL
  if ((code >= 0x3400 && code < 0xa000) || (code >= 0xf900 && code < 0xfb00)) return HAN
  if ((code >= 0x2e80 && code < 0x3400) || (code >= 0xac00 && code < 0xd7b0) || code >= 0xff00) return KANA
  return code >= 0xd800 && code < 0xe000 ? SURROGATE : OTHER
}
