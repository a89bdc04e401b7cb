import { mayBeOption, type ArgumentCheck } from './option-check.ts'
import type { ShellWord } from './shell-word.ts'

// Commands whose arguments are little programs: each is read as far as needed to know that it only reads.

/** `-v` assigns to a name, and the index of a name may run commands. */
export const checkPrintf: ArgumentCheck = ([format]) =>
  format?.kind === 'literal' && (!format.value.startsWith('-') || format.value === '--')
    ? undefined
    : 'its format is not plain'

const UNARY_TESTS = new Set('-e -f -d -s -r -w -x -L -h -n -z -p -S -b -c'.split(' '))
const BINARY_TESTS = new Set('= == != -eq -ne -lt -le -gt -ge -nt -ot -ef'.split(' '))

/**
 * `[ -v a[$(…)] ]` runs commands, and words that come from variables may turn into that. So: a known operator, written out, with
 * operands that stay one word.
 */
export const checkTest: ArgumentCheck = (args) => {
  const closed = args.at(-1)?.value === ']' ? args.slice(0, -1) : args
  const plain = closed[0]?.kind === 'literal' && closed[0].value === '!' ? closed.slice(1) : closed
  if (plain.some(({ mayMultiply }) => mayMultiply)) return 'an argument may fall into several'
  const [first, second] = plain
  if (plain.length === 1 && first?.kind === 'literal') return undefined
  if (plain.length === 2 && isOneOf(first, UNARY_TESTS)) return undefined
  if (plain.length === 3 && isOneOf(second, BINARY_TESTS)) return undefined
  return 'this form of a test is not known to be harmless'
}

function isOneOf(word: ShellWord | undefined, values: ReadonlySet<string>): boolean {
  return word?.kind === 'literal' && values.has(word.value)
}

/** Without a `+` it may set the clock. */
export const checkDate: ArgumentCheck = (args) => {
  for (let at = 0; at < args.length; at++) {
    const word = args[at]
    if (word?.kind !== 'literal') return 'an argument is not plain'
    if (/^(\+.*|-[uR]|-I\w*|--utc|--iso-8601(=\w+)?|--rfc-3339=\w+|--date=.*)$/s.test(word.value)) continue
    if (word.value !== '-d' || args[at + 1]?.kind !== 'literal') return `${word.value} may set the clock`
    at++
  }
  return undefined
}

const FIND_WORDS = new Set(
  `! ( ) , -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime -amin -ctime
  -cmin -newer -maxdepth -mindepth -not -and -or -a -o -print -print0 -printf -ls -prune -quit -empty -depth -perm -user -group -readable
  -writable -executable -true -false -xdev -mount -P -links -inum -samefile -daystart -nouser -nogroup -lname -ilname`
    .trim()
    .split(/\s+/),
)

/** Not: -delete, -exec and its kin, -fprint and its kin, -L. */
export const checkFind: ArgumentCheck = (args) => {
  for (const word of args) {
    if (mayBeOption(word)) return `"${word.value}" may expand to an action`
    // `-5` and `+5` are numbers: -mtime -5.
    if (word.value.startsWith('-') && !FIND_WORDS.has(word.value) && !/^-\d+[a-zA-Z]?$/.test(word.value))
      return `${word.value} is not known to be harmless`
  }
  return undefined
}

const SED_ADDRESS = String.raw`(\d+|\$|/[^/\\\n]*/)`
const SED_STEP = new RegExp(
  String.raw`^\s*(${SED_ADDRESS}(,\s*(${SED_ADDRESS}|\+\d+))?\s*!?\s*)?([pdqPD=]|s/([^/\\\n]|\\[^\n])*/([^/\\\n]|\\[^\n])*/[gpiI0-9]*)\s*$`,
)

/** Printing, deleting and substituting lines on their way; not -i, not the commands w, r, e and files of scripts. */
export const checkSed: ArgumentCheck = (args) => {
  const scripts: ShellWord[] = []
  const operands: ShellWord[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at]
    if (word === undefined || mayBeOption(word)) return 'an argument may expand to an option'
    if (word.value === '-e' && args[at + 1] !== undefined) scripts.push(...args.slice(++at, at + 1))
    else if (/^(-[nErsuz]+|--quiet|--silent|--regexp-extended)$/.test(word.value)) continue
    else if (word.value.startsWith('-') && word.value !== '-')
      return `${word.value} is not known to be harmless`
    else operands.push(word)
  }
  const programs = scripts.length > 0 ? scripts : operands.slice(0, 1)
  if (programs.length === 0) return 'it has no script'
  const plain = programs.every(
    ({ kind, value }) => kind === 'literal' && value.split(';').every((step) => SED_STEP.test(step)),
  )
  return plain ? undefined : 'its script may write or run something'
}

/** A program that neither writes, nor pipes, nor calls out. The words are forbidden wherever they stand, so comparisons with > ask too. */
export const checkAwk: ArgumentCheck = (args) => {
  const operands: ShellWord[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at]
    if (word?.kind !== 'literal' && operands.length === 0) return 'its program is not plain'
    if (word === undefined || (mayBeOption(word) && word.kind === 'expands'))
      return 'an argument is not plain'
    if (word.value === '-F' && args[at + 1]?.kind === 'literal') at++
    else if (operands.length === 0 && /^-F.+$/s.test(word.value)) continue
    else if (operands.length === 0 && word.value.startsWith('-'))
      return `${word.value} is not known to be harmless`
    else operands.push(word)
  }
  const program = operands[0]?.value
  if (program === undefined) return 'it has no program'
  return /[>|@]|system|getline|close|fflush/.test(program)
    ? 'its program may write or run something'
    : undefined
}

/** Nothing that shows the environment of processes: keys are in it. */
export const checkPs: ArgumentCheck = (args) =>
  args.every(({ kind, value }) => kind === 'literal' && /^(-?[auxfwlhAFjT]+|-e[fFlj]*|-p|\d+)$/.test(value))
    ? undefined
    : 'its options may show the environment of processes'

/** `--version` and, for each command, its own short form. Any other argument may run something, also what comes through a pipe. */
export function checkVersion(...forms: readonly string[]): ArgumentCheck {
  return (args) =>
    args.length === 1 && args[0]?.kind === 'literal' && ['--version', ...forms].includes(args[0].value)
      ? undefined
      : 'only asking for the version is known to be harmless'
}
