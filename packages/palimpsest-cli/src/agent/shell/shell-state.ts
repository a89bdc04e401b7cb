import { changeVariables, type ChildEnvironment } from '../process/child-environment.ts'

// What one command leaves for the next: exported variables and functions. The access keeps the folder separately. Each command runs in its
// own bash, which starts with this state and reports it at its end. So a command that hangs or dies loses only its own changes.

export interface ShellState {
  /** Differences from the environment of the first command; undefined: the variable was unset. */
  readonly variables: { readonly [name: string]: string | undefined }
  /** Definitions, as bash prints them. */
  readonly functions: string
  readonly functionNames: ReadonlySet<string>
}

export const FRESH_SHELL: ShellState = { variables: {}, functions: '', functionNames: new Set() }

/** For all definitions together; `nvm` has 130,000. */
const FUNCTION_CHARS_MAX = 400_000
/** For one value: systems accept no longer ones. */
const VALUE_CHARS_MAX = 30_000
const VARIABLES_MAX = 500
/** Definitions are passed as arguments, and one argument has at most 128 KB. */
const ARGUMENT_CHARS = 30_000

/** Every bash sets these itself. */
const OF_THE_SHELL = /^(PWD|OLDPWD|SHLVL|_|SHELLOPTS|BASHOPTS|BASH_\w+)$/
const NAME = /^[A-Za-z_]\w*$/

export function keptEnvironment(env: ChildEnvironment, { variables }: ShellState): ChildEnvironment {
  return Object.keys(variables).length === 0 ? env : changeVariables(env, variables)
}

/** Uses only builtins, so that a changed search path does not matter. `stateIn` reads its output in this order. */
const TELL = String.raw`__palimpsest_tell() { set +eux; set -f; local IFS=$' \t\n' __palimpsest_n
builtin pwd -P; builtin printf '\0'
for __palimpsest_n in $(compgen -e); do builtin printf '%s=%s\0' "$__palimpsest_n" "${'$'}{!__palimpsest_n}"; done
builtin printf '\0'
for __palimpsest_n in $(compgen -A function); do case $__palimpsest_n in __palimpsest_*) ;; *) builtin printf '%s\0' "$__palimpsest_n"; declare -f -- "$__palimpsest_n"; builtin printf '\0'; esac; done
builtin printf '\0end'; }`

/** Evaluates the command, so that a syntax error affects only the command. Its output comes in one stream, in order. */
const WRAPPER = `exec 2>&1
${TELL}
trap '{ __palimpsest_tell >&9; } 2>/dev/null' EXIT
__palimpsest_restore() { local IFS=; shift; eval "$*"; }; __palimpsest_restore "$@"; unset -f __palimpsest_restore
eval "shift $#
$1" 9>&-`

/** Arguments for a bash that runs the command in this state and reports the state after it. */
export function keptArguments(command: string, { functions }: ShellState): readonly string[] {
  const parts: string[] = []
  for (let at = 0; at < functions.length;) {
    const isSplit = /[\uD800-\uDBFF]/.test(functions[at + ARGUMENT_CHARS - 1] ?? '')
    const end = at + ARGUMENT_CHARS - (isSplit ? 1 : 0)
    parts.push(functions.slice(at, end))
    at = end
  }
  return ['-c', WRAPPER, 'bash', command, ...parts]
}

export interface ToldState {
  readonly folder: string | undefined
  /** Undefined: the report is incomplete, for example because the shell was killed or became another program. */
  readonly variables: ReadonlyMap<string, string> | undefined
  readonly functions: ReadonlyMap<string, string>
}

/** The state that a shell reported at its end. A report may consist of the folder only. */
export function stateIn(text: string): ToldState {
  const [folder = '', ...records] = text.split('\0')
  const told = { folder: folder === '' ? undefined : folder.replace(/\n$/, ''), functions: new Map() }
  if (records.at(-1) !== 'end') return { ...told, variables: undefined }
  const variablesEnd = records.indexOf('')
  const variables = records.slice(0, variablesEnd).map((record): [string, string] => {
    const at = record.indexOf('=')
    return [record.slice(0, at), record.slice(at + 1)]
  })
  const definitions = records.slice(variablesEnd + 1, -2)
  const functions = new Map<string, string>()
  for (let at = 0; at + 1 < definitions.length; at += 2)
    functions.set(definitions[at] ?? '', definitions[at + 1] ?? '')
  return { ...told, variables: new Map(variables), functions }
}

export function isSameState(one: ShellState, other: ShellState): boolean {
  const names = new Set([...Object.keys(one.variables), ...Object.keys(other.variables)])
  return one.functions === other.functions && [...names].every((name) => isSameIn(name, one, other))
}

function isSameIn(name: string, { variables: one }: ShellState, { variables: other }: ShellState): boolean {
  return Object.hasOwn(one, name) === Object.hasOwn(other, name) && one[name] === other[name]
}

/** Undefined: it is too much to keep. */
export function stateAfter(
  { variables: told = new Map<string, string>(), functions }: ToldState,
  env: ChildEnvironment,
): ShellState | undefined {
  const set = [...told].filter(([name, value]) => env[name] !== value && !OF_THE_SHELL.test(name))
  const unset = Object.keys(env).filter(
    (name) => NAME.test(name) && !OF_THE_SHELL.test(name) && !told.has(name),
  )
  const text = [...functions.values()].join('')
  const isTooMuch =
    set.length > VARIABLES_MAX ||
    set.some(([, value]) => value.length > VALUE_CHARS_MAX) ||
    text.length > FUNCTION_CHARS_MAX
  if (isTooMuch) return undefined
  return {
    variables: { ...Object.fromEntries(set), ...Object.fromEntries(unset.map((name) => [name, undefined])) },
    functions: text,
    functionNames: new Set(functions.keys()),
  }
}
