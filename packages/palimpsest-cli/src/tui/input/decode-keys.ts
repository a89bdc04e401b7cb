// Turns bytes from a terminal into keys. A sequence may be cut anywhere between two reads; a paste comes as one piece, whatever it holds.

export type Key =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string }
  | {
      readonly kind: 'key'
      /** `enter`, `up`, …; a lowercase letter if it comes with Ctrl or Alt. */
      readonly name: string
      readonly ctrl: boolean
      readonly alt: boolean
      readonly shift: boolean
    }

export interface KeyState {
  /** The beginning of a sequence. */
  readonly pending: string
  /** Set between the two ends of a paste. The end mark may be cut: `tail` is what may have come of it. */
  readonly paste?: { readonly parts: readonly string[]; readonly tail: string }
}

export const KEYS_START: KeyState = { pending: '' }

export interface DecodedKeys {
  readonly state: KeyState
  readonly keys: readonly Key[]
}

const ESC = '\x1b'
const PASTE_START = '\x1b[200~'
const PASTE_END = '\x1b[201~'
/** A longer sequence is not one. */
const SEQUENCE_CHARS_MAX = 32

export function decodeKeys(state: KeyState, chunk: string): DecodedKeys {
  if (state.paste) return takePaste(state.paste, chunk)
  if (state.pending === '' && isUnmarkedPaste(chunk))
    return { state: KEYS_START, keys: [{ kind: 'paste', text: unixLines(chunk) }] }
  const keys: Key[] = []
  let rest = state.pending + chunk
  while (rest !== '') {
    if (rest.startsWith(PASTE_START)) {
      const pasted = takePaste({ parts: [], tail: '' }, rest.slice(PASTE_START.length))
      return { state: pasted.state, keys: [...keys, ...pasted.keys] }
    }
    const taken = takeOne(rest)
    if (!taken) return { state: { pending: rest }, keys }
    if (taken.key) keys.push(taken.key)
    rest = rest.slice(taken.length)
  }
  return { state: KEYS_START, keys: joinText(keys) }
}

/**
 * Several lines in one read, which no one typed: the terminal does not mark pastes, or was not asked to yet. As keys, each line would be
 * sent by itself. Input with other control characters counts as keys.
 */
function isUnmarkedPaste(chunk: string): boolean {
  return UNMARKED.test(chunk) && !/\p{Cc}/u.test(chunk.replaceAll(/[\r\n\t]/g, ''))
}

/** Three lines with text, and line ends between them. */
const UNMARKED = /[^\r\n][\r\n]+[^\r\n]+[\r\n]+[^\r\n]/

function unixLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n')
}

/** Nothing followed for a moment, so what is pending is complete. A lone escape character is the Esc key. */
export function flushKeys({ pending, paste }: KeyState): DecodedKeys {
  if (paste || pending === '') return { state: paste ? { pending, paste } : KEYS_START, keys: [] }
  if (pending === ESC || pending === `${ESC}${ESC}`)
    return { state: KEYS_START, keys: Array.from(pending, () => named('escape')) }
  return { state: KEYS_START, keys: [] }
}

function takePaste(paste: NonNullable<KeyState['paste']>, chunk: string): DecodedKeys {
  const seen = paste.tail + chunk
  const end = seen.indexOf(PASTE_END)
  if (end < 0) {
    const keep = Math.min(seen.length, PASTE_END.length - 1)
    const parts = [...paste.parts, seen.slice(0, seen.length - keep)]
    return { state: { pending: '', paste: { parts, tail: seen.slice(seen.length - keep) } }, keys: [] }
  }
  const text = [...paste.parts, seen.slice(0, end)].join('')
  const after = decodeKeys(KEYS_START, seen.slice(end + PASTE_END.length))
  return { state: after.state, keys: [{ kind: 'paste', text: unixLines(text) }, ...after.keys] }
}

interface TakenKey {
  readonly length: number
  /** Absent: a sequence that means nothing to us. */
  readonly key?: Key
}

/** The first key of a text; undefined if more must come. */
function takeOne(text: string): TakenKey | undefined {
  const [first = ''] = text
  if (first !== ESC) return { length: first.length, key: plainKey(first) }
  if (text === ESC || PASTE_START.startsWith(text)) return undefined
  const second = text[1] ?? ''
  if (second === '[') return takeSequence(text)
  if (second === 'O') return text.length < 3 ? undefined : { length: 3, ...keyed(SS3[text[2] ?? '']) }
  if (second === ESC) return { length: 1, key: named('escape') }
  const key = plainKey(second)
  // No one holds both: the user pressed Esc and then the other key, faster than the line sends.
  if (key.kind === 'key' && key.ctrl) return { length: 1, key: named('escape') }
  const name = key.kind === 'key' ? key.name : second.toLowerCase()
  return { length: 2, key: named(name, { alt: true }) }
}

const SS3: { readonly [letter: string]: string } = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  M: 'enter',
}
const CSI_LETTERS: { readonly [letter: string]: string } = { ...SS3, Z: 'tab' }
const CSI_NUMBERS: { readonly [number: string]: string } = {
  '1': 'home',
  '3': 'delete',
  '4': 'end',
  '5': 'pageup',
  '6': 'pagedown',
  '7': 'home',
  '8': 'end',
}
const CODE_NAMES: { readonly [code: string]: string } = {
  '9': 'tab',
  '13': 'enter',
  '27': 'escape',
  '127': 'backspace',
}
// eslint-disable-next-line no-control-regex -- escape sequences begin with it
const CSI = /^\x1b\[([\d;:<=>?]*)([@-~])/

function takeSequence(text: string): TakenKey | undefined {
  const match = CSI.exec(text)
  if (!match) return text.length < SEQUENCE_CHARS_MAX ? undefined : { length: 1 }
  const [whole, parameters = '', letter = ''] = match
  const [number = '', modifier = '1'] = parameters.split(';')
  // One more than the sum of shift 1, alt 2, ctrl 4.
  const bits = (Number.parseInt(modifier, 10) || 1) - 1
  const held = { shift: (bits & 1) > 0 || letter === 'Z', alt: (bits & 2) > 0, ctrl: (bits & 4) > 0 }
  const length = whole.length
  if (letter === '~') return { length, ...keyed(CSI_NUMBERS[number], held) }
  if (letter === 'u') return { length, ...keyed(CODE_NAMES[number] ?? letterOf(number), held) }
  return { length, ...keyed(CSI_LETTERS[letter], held) }
}

function letterOf(code: string): string | undefined {
  const number = Number(code)
  return number > 0x20 && number < 0x7f ? String.fromCodePoint(number).toLowerCase() : undefined
}

function plainKey(character: string): Key {
  const code = character.codePointAt(0) ?? 0
  if (character === '\r') return named('enter')
  if (character === '\t') return named('tab')
  if (code === 0x7f || code === 0x08) return named('backspace')
  if (code === 0) return named('space', { ctrl: true })
  // Ctrl and a letter; a line feed is Ctrl-J.
  if (code < 0x1b) return named(String.fromCodePoint(code + 0x60), { ctrl: true })
  if (code < 0x20) return named(String.fromCodePoint(code + 0x40), { ctrl: true })
  return { kind: 'text', text: character }
}

type Held = Partial<Pick<Extract<Key, { kind: 'key' }>, 'ctrl' | 'alt' | 'shift'>>

function named(name: string, { ctrl = false, alt = false, shift = false }: Held = {}): Key {
  return { kind: 'key', name, ctrl, alt, shift }
}

function keyed(name: string | undefined, held: Held = {}): { readonly key?: Key } {
  return name === undefined ? {} : { key: named(name, held) }
}

function joinText(keys: readonly Key[]): readonly Key[] {
  const joined: Key[] = []
  for (const key of keys) {
    const last = joined.at(-1)
    if (key.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = { kind: 'text', text: last.text + key.text }
    else joined.push(key)
  }
  return joined
}
