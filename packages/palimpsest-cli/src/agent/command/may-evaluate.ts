import type { ShellWord } from './shell-word.ts'

// Shell builtins that run text or change what names mean. A line with one of them does more than it says.

const EVALUATING = new Set(
  'eval exec builtin trap source . let declare typeset local export readonly read mapfile readarray alias unalias hash enable shopt set unset bind complete compgen getopts fc'.split(
    ' ',
  ),
)

export function mayEvaluate(name: string, args: readonly ShellWord[]): boolean {
  const isLookup = name === 'command' && /^-[vV]$/.test(args[0]?.value ?? '')
  return (
    EVALUATING.has(name) ||
    (name === 'command' && !isLookup) ||
    // `-x` runs the words after it.
    (name === 'jobs' && args.length > 0) ||
    (name === 'printf' && printfMaySet(args)) ||
    ((name === 'test' || name === '[') && testMayEvaluate(args))
  )
}

/** `-v` assigns to a name, and the index of a name may run commands; `%n` assigns to a name among the words. */
function printfMaySet([first, second]: readonly ShellWord[]): boolean {
  const format = first?.kind === 'literal' && first.value === '--' ? second : first
  if (format?.kind !== 'literal' || (format === first && format.value.startsWith('-'))) return true
  return /%[-+ #0'*.\dhjlLtz]*n/.test(format.value.replaceAll('%%', ''))
}

const UNARY_TESTS = new Set('-e -f -d -s -r -w -x -L -h -n -z -p -S -b -c'.split(' '))
const BINARY_TESTS = new Set('= == != -eq -ne -lt -le -gt -ge -nt -ot -ef'.split(' '))

/**
 * `[ -v a[$(…)] ]` runs commands, and words from variables may turn into that. So we accept only a known, literal operator with operands
 * that stay one word.
 */
function testMayEvaluate(args: readonly ShellWord[]): boolean {
  const closed = args.at(-1)?.value === ']' ? args.slice(0, -1) : args
  const plain = closed[0]?.kind === 'literal' && closed[0].value === '!' ? closed.slice(1) : closed
  if (plain.some(({ mayMultiply }) => mayMultiply)) return true
  const [first, second] = plain
  if (plain.length === 1 && first?.kind === 'literal') return false
  if (plain.length === 2 && isOneOf(first, UNARY_TESTS)) return false
  return !(plain.length === 3 && isOneOf(second, BINARY_TESTS))
}

function isOneOf(word: ShellWord | undefined, values: ReadonlySet<string>): boolean {
  return word?.kind === 'literal' && values.has(word.value)
}
