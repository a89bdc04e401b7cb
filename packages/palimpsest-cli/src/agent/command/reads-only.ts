import { parseShell, type ShellRedirect, type ShellText, type SimpleCommand } from './parse-shell.ts'
import { findReadingCommand } from './reading-commands.ts'
import type { ShellWord } from './shell-word.ts'

// Is this command line known to only read? Pure: it looks at the text alone. Which files it may read is for the caller to check: the
// words that may be paths come with the answer.

export type ReadingVerdict =
  | {
      readonly readsOnly: true
      /** The folder that a leading `cd` goes to. */
      readonly folder: string | undefined
      readonly paths: readonly ShellWord[]
      readonly usesGit: boolean
      /** It reads files that no word names. */
      readonly readsBelow: boolean
    }
  | { readonly readsOnly: false; readonly why: string }

export function readsOnly(source: string): ReadingVerdict {
  return judge(parseShell(source))
}

export function judge(text: ShellText): ReadingVerdict {
  if (!text.readable) return no(text.why)
  if (text.hasBackground) return no('it leaves something running')
  const badRedirect = text.redirects.find((redirect) => !onlyReads(redirect))
  if (badRedirect !== undefined) return no(`"${badRedirect.operator}" writes a file`)
  const moves = text.commands.filter(({ name }) => name === 'cd')
  const folder = moves.length === 0 ? undefined : leadingFolder(text.topLevel, moves)
  if (moves.length > 0 && folder === undefined)
    return no('it changes the folder in a way that is hard to follow')
  const others = text.commands.filter(({ name }) => name !== undefined && name !== 'cd')
  for (const command of others) {
    const why = whyNot(command)
    if (why !== undefined) return no(`${command.name}: ${why}`)
  }
  const usesGit = others.some(({ name }) => name === 'git')
  if (usesGit && folder !== undefined) return no('git in another folder obeys that folder')
  const fromFiles = text.redirects.flatMap(({ operator, target }) =>
    operator === '<' && target ? [target] : [],
  )
  const paths = [...others.flatMap(pathWords), ...fromFiles]
  const readsBelow = others.some(
    ({ name = '', args }) => findReadingCommand(name)?.readsBelow?.(args) === true,
  )
  return { readsOnly: true, folder, paths, usesGit, readsBelow }
}

/** Words of commands that take words are no paths; patterns still become names. */
function pathWords({ name = '', args }: SimpleCommand): readonly ShellWord[] {
  return findReadingCommand(name)?.takesWords === true ? args.filter(({ kind }) => kind === 'glob') : args
}

function no(why: string): ReadingVerdict {
  return { readsOnly: false, why }
}

function whyNot({ name = '', args }: SimpleCommand): string | undefined {
  const known = findReadingCommand(name)
  if (known === undefined) return 'not known to only read'
  if (known.takesWords !== true) {
    const open = args.find(({ kind, text }) => kind === 'expands' || hasOddTilde(text))
    if (open !== undefined) return `"${open.value}" may be any file`
  }
  return known.check(args)
}

/** `~name` and `x=~/y` lead to other folders; `~/x` is looked at as a path, `HEAD~1` is just a name. */
function hasOddTilde(text: string): boolean {
  return /^~[^/]|[=:]~/.test(text)
}

/** To nowhere, or from one channel to another. */
function onlyReads({ operator, target }: ShellRedirect): boolean {
  if (target?.kind !== 'literal') return false
  switch (operator) {
    case '<':
      // Bash itself opens connections for /dev/tcp.
      return !target.value.startsWith('/dev/') || target.value === '/dev/null'
    case '>':
    case '>>':
    case '>|':
    case '&>':
    case '&>>':
      return ['/dev/null', '/dev/stdout', '/dev/stderr'].includes(target.value)
    case '>&':
    case '<&':
      return /^(\d+-?|-)$/.test(target.value) || (operator === '>&' && target.value === '/dev/null')
    case '<>':
      return false
    default:
      operator satisfies never
      return false
  }
}

/** The target of one plain `cd` at the very start. With `..` behind a name, shell and system may mean different folders. */
function leadingFolder(
  topLevel: readonly SimpleCommand[],
  moves: readonly SimpleCommand[],
): string | undefined {
  const [first] = topLevel
  if (moves.length !== 1 || first === undefined || first !== moves[0]) return undefined
  const [target, ...rest] = first.args
  if (target?.kind !== 'literal' || rest.length > 0 || target.value.startsWith('-')) return undefined
  if (target.value === '' || hasOddTilde(target.text) || /[^./][^/]*\/+\.\.(\/|$)/.test(target.value))
    return undefined
  return target.value
}
