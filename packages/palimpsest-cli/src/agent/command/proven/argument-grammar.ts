import type { ShellWord } from '../shell-word.ts'

// The arguments that a program may have and still be known to only read: every option by name, every value and every operand by kind. What
// is not listed is not allowed. We write the words in our own order, with values attached to their options and operands after `--`, so
// that the program must read them as we did.

/**
 * `word` is plain letters and digits; `moment` is a date in words; `format` begins with a plus; `file` is opened; `regular` must be a plain
 * file; `name` may be a file or something else, and stays as written.
 */
export type ValueKind = 'number' | 'word' | 'text' | 'moment' | 'format' | 'file' | 'regular' | 'name'

export interface ArgumentGrammar {
  /** Letters of options without a value. */
  readonly flags?: string
  readonly values?: { readonly [letter: string]: ValueKind }
  /** `word?`: with or without a value. */
  readonly long?: { readonly [name: string]: 'flag' | ValueKind | 'word?' }
  /** `-5` means this letter with the value 5. */
  readonly numeric?: string
  /** Kinds of the first operands, unless one of `instead` is given. */
  readonly first?: readonly ValueKind[]
  readonly instead?: readonly string[]
  readonly rest?: ValueKind
  readonly operandsMax?: number
  readonly operandsMin?: number
  /** Words that we add to every call. */
  readonly always?: readonly string[]
}

/** A word as we will write it. */
export type ProvenWord =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'file'
      /** Relative paths start from the command's folder. */
      readonly path: string
      /** Attached before the path; may be empty. */
      readonly option: string
      /** Stars and question marks match names. */
      readonly isPattern: boolean
      readonly mustBeRegular: boolean
    }

export type Proven =
  | { readonly ok: true; readonly words: readonly ProvenWord[] }
  | { readonly ok: false; readonly why: string }

export function no(why: string): Proven {
  return { ok: false, why }
}

export const text = (value: string): ProvenWord => ({ kind: 'text', text: value })

class Unknown extends Error {}

export function proveArguments(args: readonly ShellWord[], grammar: ArgumentGrammar): Proven {
  try {
    return prove(args, grammar)
  } catch (error) {
    if (error instanceof Unknown) return no(error.message)
    throw error
  }
}

function prove(args: readonly ShellWord[], grammar: ArgumentGrammar): Proven {
  const options: ProvenWord[] = []
  const operands: ShellWord[] = []
  const given = new Set<string>()
  let isOver = false
  for (let at = 0; at < args.length; at++) {
    const word = args[at]
    if (word === undefined) break
    const { value } = word
    if (isOver || !value.startsWith('-') || value === '-') operands.push(word)
    else if (word.kind !== 'literal') throw new Unknown(`"${value}" may expand to an option`)
    else if (value === '--') isOver = true
    else {
      const read = value.startsWith('--')
        ? readLong(value.slice(2), grammar)
        : readShort(value, args[at + 1], grammar)
      for (const name of read.names) given.add(name)
      options.push(...read.words)
      if (read.tookNext) at++
    }
  }
  const kinds = grammar.instead?.some((name) => given.has(name)) ? [] : (grammar.first ?? [])
  const max = grammar.operandsMax ?? Number.POSITIVE_INFINITY
  if (operands.length > max) throw new Unknown('it has more operands than it should')
  // One pattern may expand to several names, and then there is an operand too many.
  if (Number.isFinite(max) && operands.some(({ kind }) => kind !== 'literal'))
    throw new Unknown('a pattern may become several operands')
  if (operands.length < (grammar.operandsMin ?? 0)) throw new Unknown('it lacks an operand')
  const proven = operands.map((word, index) => {
    const kind = kinds[index] ?? grammar.rest
    if (kind === undefined) throw new Unknown(`the operand "${word.value}" is not expected`)
    return toProven(word, kind, '')
  })
  const always = (grammar.always ?? []).map(text)
  return { ok: true, words: [...always, ...options, ...(proven.length > 0 ? [text('--')] : []), ...proven] }
}

interface ReadOption {
  readonly names: readonly string[]
  readonly words: readonly ProvenWord[]
  readonly tookNext: boolean
}

/** Only full names: programs accept abbreviations, we do not. */
function readLong(option: string, { long = {} }: ArgumentGrammar): ReadOption {
  const equals = option.indexOf('=')
  const name = equals === -1 ? option : option.slice(0, equals)
  const kind = Object.hasOwn(long, name) ? long[name] : undefined
  if (kind === undefined) throw new Unknown(`the option --${name} is not known to be harmless`)
  if (equals === -1) {
    if (kind !== 'flag' && kind !== 'word?') throw new Unknown(`--${name} needs a value after "="`)
    return { names: [name], words: [text(`--${name}`)], tookNext: false }
  }
  if (kind === 'flag') throw new Unknown(`--${name} takes no value`)
  const value: ShellWord = {
    value: option.slice(equals + 1),
    kind: 'literal',
    text: option.slice(equals + 1),
    mayMultiply: false,
  }
  const proven = toProven(value, kind === 'word?' ? 'word' : kind, `--${name}=`)
  return { names: [name], words: [proven], tookNext: false }
}

function readShort(word: string, next: ShellWord | undefined, grammar: ArgumentGrammar): ReadOption {
  const { flags = '', values = {}, numeric } = grammar
  if (numeric !== undefined && /^-\d+$/.test(word))
    return { names: [numeric], words: [text(`-${numeric}${word.slice(1)}`)], tookNext: false }
  const names: string[] = []
  const words: ProvenWord[] = []
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? ''
    names.push(letter)
    if (flags.includes(letter)) {
      words.push(text(`-${letter}`))
      continue
    }
    const kind = Object.hasOwn(values, letter) ? values[letter] : undefined
    if (kind === undefined) throw new Unknown(`the option -${letter} is not known to be harmless`)
    const rest = word.slice(at + 1)
    const glued: ShellWord = { value: rest, kind: 'literal', text: rest, mayMultiply: false }
    const value = rest === '' ? next : glued
    if (value === undefined) throw new Unknown(`-${letter} lacks its value`)
    if (value.value === '') throw new Unknown(`the value of -${letter} is empty`)
    words.push(toProven(value, kind, `-${letter}`))
    return { names, words, tookNext: rest === '' }
  }
  return { names, words, tookNext: false }
}

const NUMBER = /^[-+]?\d+(\.\d+)?[bkKMGT]?$/
const MOMENT = /^[\w@:+,./ -]+$/
const WORD = /^[\w.,:%+-]+$/

function toProven(word: ShellWord, kind: ValueKind, option: string): ProvenWord {
  const { value } = word
  if (kind === 'file' || kind === 'regular') return fileWord(word, option, kind === 'regular')
  if (kind === 'name' && word.kind === 'literal' && !isTilde(word)) return nameWord(value)
  if (word.kind !== 'literal' || isTilde(word)) throw new Unknown(`"${value}" is not plain`)
  if (kind === 'number' && !NUMBER.test(value)) throw new Unknown(`"${value}" is no number`)
  if (kind === 'format' && !value.startsWith('+')) throw new Unknown(`"${value}" is no format`)
  if (kind === 'moment' && !MOMENT.test(value)) throw new Unknown(`"${value}" is no plain date`)
  if (kind === 'word' && !WORD.test(value)) throw new Unknown(`"${value}" is not plain`)
  return text(`${option}${value}`)
}

/** Characters of a pattern that mean themselves, and stars and question marks. */
const PLAIN_PATTERN = /^[\w./+:@%,=*?-]+$/

function fileWord(word: ShellWord, option: string, mustBeRegular: boolean): ProvenWord {
  const { value, kind } = word
  if (kind === 'expands') throw new Unknown(`"${value}" may be any file`)
  if (value === '') throw new Unknown('a file name is empty')
  if (value === '-' && option === '') return text('-')
  const isPattern = kind === 'glob'
  if (isPattern && option !== '') throw new Unknown('a pattern may become several values')
  if (isPattern && (!PLAIN_PATTERN.test(word.text) || word.text.includes('**')))
    throw new Unknown(`the pattern "${word.text}" is not plain`)
  if (isTilde(word) && !/^~(\/|$)/.test(word.text)) throw new Unknown(`"${word.text}" may be any folder`)
  // In quotes, a tilde is a plain character. An odd first character may mean something else to a program: `@file`, `+10`.
  const isOdd = !isPattern && !/^[\w./]/.test(value) && !isTilde(word)
  const path = isOdd ? `./${value}` : value
  return { kind: 'file', path, option, isPattern, mustBeRegular }
}

function nameWord(path: string): ProvenWord {
  return { kind: 'file', path, option: '', isPattern: false, mustBeRegular: false }
}

function isTilde({ text: written }: ShellWord): boolean {
  return written.startsWith('~')
}
