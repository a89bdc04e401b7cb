import type { ShellWord } from '../shell-word.ts'
import { no, proveArguments, text, type Proven, type ProvenWord } from './argument-grammar.ts'

// Commands whose words follow no pattern of options and operands.

export type Prover = (args: readonly ShellWord[]) => Proven

const isLiteral = ({ kind, text: written }: ShellWord): boolean =>
  kind === 'literal' && !written.startsWith('~')
const plainWords = (args: readonly ShellWord[]): Proven => ({
  ok: true,
  words: args.map(({ value }) => text(value)),
})

/** It only prints its words. */
const proveEcho: Prover = (args) => (args.every(isLiteral) ? plainWords(args) : no('its words are computed'))

/** Neither `-v` nor `%n`, which set variables, nor `%*d`, whose width comes from elsewhere. */
const CONVERSIONS = /^(?:[^%]|%%|%[-+ #0]*\d{0,3}(?:\.\d{1,3})?[sdiuoxXcbqeEfgG])*$/s

const provePrintf: Prover = (args) => {
  if (!args.every(isLiteral)) return no('its words are computed')
  const isOver = args[0]?.value === '--'
  const own = isOver ? args.slice(1) : args
  const format = own[0]?.value
  if (format === undefined || (format.startsWith('-') && !isOver) || !CONVERSIONS.test(format))
    return no('its format is not plain')
  return { ok: true, words: [text('--'), ...own.map(({ value }) => text(value))] }
}

const FILE_TESTS = new Set('-e -f -d -s -r -w -x -L -h -p -S'.split(' '))
const TEXT_TESTS = new Set(['-n', '-z'])
const TEXT_COMPARISONS = new Set(['=', '==', '!='])
const NUMBER_COMPARISONS = new Set('-eq -ne -lt -le -gt -ge'.split(' '))
const FILE_COMPARISONS = new Set('-nt -ot -ef'.split(' '))

const proveTest: Prover = (args) => {
  if (!args.every(isLiteral)) return no('its words are computed')
  const values = args.map(({ value }) => value)
  const isBracket = values.at(-1) === ']'
  const inner = isBracket ? values.slice(0, -1) : values
  const negated = inner[0] === '!' && inner.length > 1
  const [first = '', second = '', third = ''] = negated ? inner.slice(1) : inner
  const length = inner.length - (negated ? 1 : 0)
  const words = testWords(length, first, second, third)
  if (words === undefined) return no('this form of a test is not known to be harmless')
  return {
    ok: true,
    words: [...(negated ? [text('!')] : []), ...words, ...(isBracket ? [text(']')] : [])],
  }
}

function testWords(
  length: number,
  first: string,
  second: string,
  third: string,
): readonly ProvenWord[] | undefined {
  if (length === 2 && FILE_TESTS.has(first)) return [text(first), fileOf(second)]
  if (length === 2 && TEXT_TESTS.has(first)) return [text(first), text(second)]
  if (length !== 3) return undefined
  if (TEXT_COMPARISONS.has(second)) return [text(first), text(second), text(third)]
  if (FILE_COMPARISONS.has(second)) return [fileOf(first), text(second), fileOf(third)]
  const areNumbers = /^-?\d{1,18}$/.test(first) && /^-?\d{1,18}$/.test(third)
  return NUMBER_COMPARISONS.has(second) && areNumbers ? [text(first), text(second), text(third)] : undefined
}

function fileOf(path: string): ProvenWord {
  return { kind: 'file', path, option: '', isPattern: false, mustBeRegular: false }
}

/** Whether a value follows, and its kind. */
const FIND_TESTS = new Map<string, 'none' | 'text' | 'number' | 'file'>([
  ...'! ( ) , -not -and -or -a -o -print -print0 -ls -prune -quit -empty -depth -readable -writable -executable -true -false -xdev -mount -daystart -nouser -nogroup'
    .split(' ')
    .map((name) => [name, 'none'] as const),
  ...'-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -perm -user -group -lname -ilname -printf'
    .split(' ')
    .map((name) => [name, 'text'] as const),
  ...'-mtime -mmin -atime -amin -ctime -cmin -links -inum -maxdepth -mindepth'
    .split(' ')
    .map((name) => [name, 'number'] as const),
  ...'-newer -anewer -cnewer -samefile'.split(' ').map((name) => [name, 'file'] as const),
])

/** Left out: -delete, -exec, -fprint and the like, -files0-from, and -L and -H, which follow links. */
const proveFind: Prover = (args) => {
  const words: ProvenWord[] = []
  const start = args[0]?.value === '-P' ? 1 : 0
  let at = start
  for (; at < args.length; at++) {
    const word = args[at]
    if (word === undefined || /^[-!(),]/.test(word.value)) break
    const proven = proveArguments([word], { rest: 'file', operandsMax: 1 })
    if (!proven.ok) return proven
    words.push(...proven.words.slice(1))
  }
  for (; at < args.length; at++) {
    const word = args[at]
    if (word === undefined || !isLiteral(word)) return no('its expression is computed')
    const follows = FIND_TESTS.get(word.value)
    if (follows === undefined) return no(`${word.value} is not known to be harmless`)
    words.push(text(word.value))
    if (follows === 'none') continue
    const value = args[++at]
    if (value === undefined || !isLiteral(value)) return no(`${word.value} lacks a plain value`)
    if (follows === 'number' && !/^[-+]?\d{1,18}$/.test(value.value))
      return no(`"${value.value}" is no number`)
    words.push(follows === 'file' ? fileOf(value.value) : text(value.value))
  }
  return { ok: true, words }
}

/** Only asks for the version: any other argument may run something. */
function proveVersion(...forms: readonly string[]): Prover {
  return (args) => {
    const [only, ...more] = args
    const isAsking = only?.kind === 'literal' && ['--version', ...forms].includes(only.value)
    return isAsking && more.length === 0
      ? { ok: true, words: [text(only.value)] }
      : no('only asking for the version is known to be harmless')
  }
}

/** `command -v name` looks up the name. Without -v, it runs it. */
const proveLookup: Prover = ([option, ...names]) =>
  option?.kind === 'literal' && /^-[vV]$/.test(option.value) && names.length > 0 && names.every(isName)
    ? { ok: true, words: [text(option.value), text('--'), ...names.map(({ value }) => text(value))] }
    : no('it runs its argument')

const proveType: Prover = (args) =>
  args.every((word) => isName(word) || (isLiteral(word) && /^-[afptP]+$/.test(word.value)))
    ? plainWords(args)
    : no('not plain')

function isName({ kind, value }: ShellWord): boolean {
  return kind === 'literal' && /^[\w.+-]+$/.test(value) && !value.startsWith('-')
}

export const SPECIAL = new Map<string, Prover>([
  ['echo', proveEcho],
  ['printf', provePrintf],
  ['test', proveTest],
  ['[', (args) => (args.at(-1)?.value === ']' ? proveTest(args) : no('it lacks its bracket'))],
  ['true', proveEcho],
  ['false', proveEcho],
  [':', proveEcho],
  ['find', proveFind],
  ['command', proveLookup],
  ['type', proveType],
])

/** Interpreters and compilers asked for their version. Only the system's: a wrapper from a user's folder reads the project. */
export const VERSIONS = new Map<string, Prover>([
  ['node', proveVersion('-v')],
  ['python', proveVersion('-V')],
  ['python3', proveVersion('-V')],
  ['gcc', proveVersion()],
  ['clang', proveVersion()],
])
