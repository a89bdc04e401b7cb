import { parseShell, type ShellText, type SimpleCommand } from '../command/parse-shell.ts'
import { proveWords } from '../command/proven/prove-line.ts'
import type { Access } from '../paths/access.ts'
import { findProgram } from '../sandbox/find-program.ts'
import { leadTo, quoted, writtenWords } from './resolve-proof.ts'
import { belowConcern, gitConcern, programConcern, type ReadingPolicy } from './unasked-way.ts'

// A line that rules allow in part. It runs outside the sandbox, so the rest of it must be proven to only read. A proof is about words
// that we write, so we rewrite that rest in place.

type ReadableText = Extract<ShellText, { readable: true }>

export interface PartlyAllowed {
  readonly source: string
  readonly text: ReadableText
  /** Commands that no rule allows. */
  readonly uncovered: readonly SimpleCommand[]
}

/** The line to run instead. Undefined: the user must be asked. */
export async function writeUncovered(
  line: PartlyAllowed,
  policy: ReadingPolicy,
): Promise<string | undefined> {
  const { source, text, uncovered } = line
  const { access } = policy
  if (text.redirects.some((redirect) => !readsOnly(redirect))) return undefined
  const bases = await basesOf(text, access)
  if (bases === undefined) return undefined
  for (const { target } of text.redirects.filter(({ operator }) => operator === '<')) {
    const input = proveWords('cat', target === undefined ? [] : [target])
    for (const base of bases)
      if (!input.ok || (await writtenWords(input.words, base, access)) === undefined) return undefined
  }
  const written = new Map<SimpleCommand, readonly string[]>()
  for (const command of uncovered) {
    if (command.name === undefined || command.name === 'cd') continue
    const words = await provenWords(command, bases, policy)
    if (words === undefined) return undefined
    written.set(command, [command.name, ...words])
  }
  const rewritten = replaceCommands(source, written)
  return isMeant(rewritten, text, written) ? rewritten : undefined
}

/** The words of one command as we write them; they must be the same in every folder the line may be in by then. */
async function provenWords(
  { name = '', args }: SimpleCommand,
  bases: readonly string[],
  policy: ReadingPolicy,
): Promise<readonly string[] | undefined> {
  const proven = proveWords(name, args)
  if (!proven.ok || (await programConcern([name], policy)) !== undefined) return undefined
  if (!(await isSystemsOwn(name, policy))) return undefined
  const readsBelow = name === 'git' || name === 'rg' || /^[ef]?grep$/.test(name)
  if (readsBelow && belowConcern(policy) !== undefined) return undefined
  let found: readonly string[] | undefined
  for (const base of bases) {
    if (name === 'git' && (await gitConcern(base, policy, { withHooks: true })) !== undefined)
      return undefined
    const words = await writtenWords(proven.words, base, policy.access)
    if (words === undefined || (found !== undefined && !isSame(words, found))) return undefined
    found = words
  }
  return found
}

/** Built into the shell. */
const BUILTINS = new Set('cd echo printf test [ true false : pwd type command'.split(' '))

/** An allowed command also finds programs of the project; any other command must find the one that it would find by itself. */
async function isSystemsOwn(name: string, { env, sandbox }: ReadingPolicy): Promise<boolean> {
  if (BUILTINS.has(name)) return true
  const [found, own] = await Promise.all(
    [env['PATH'], sandbox.variables['PATH']].map((path) => findProgram(name, path ?? '')),
  )
  return found?.path === own?.path
}

function replaceCommands(source: string, written: ReadonlyMap<SimpleCommand, readonly string[]>): string {
  const pieces = [...written].flatMap(([{ spans }, words]) =>
    spans.map((span, index) => ({ ...span, text: index === 0 ? words.map(quoted).join(' ') : '' })),
  )
  let result = source
  for (const { pos, end, text } of pieces.toSorted((a, b) => b.pos - a.pos))
    result = `${result.slice(0, pos)}${text}${result.slice(end)}`
  return result
}

/** Parses to the same line again: what rules allow is unchanged, and the rest is what we wrote, word for word. */
function isMeant(
  rewritten: string,
  before: ReadableText,
  written: ReadonlyMap<SimpleCommand, readonly string[]>,
): boolean {
  const after = parseShell(rewritten)
  if (!after.readable || after.commands.length !== before.commands.length) return false
  return before.commands.every((old, index) => {
    const now = after.commands[index]
    const words = written.get(old)
    if (now === undefined) return false
    if (words === undefined) return now.text === old.text
    return (
      now.args.every(({ kind }) => kind === 'literal') &&
      isSame([now.name ?? '', ...now.args.map(({ value }) => value)], words)
    )
  })
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, index) => word === other[index])
}

/** The folders that its words may be relative to. A `cd` may fail, and then the rest runs here. Undefined: too hard to follow. */
async function basesOf(text: ReadableText, access: Access): Promise<readonly string[] | undefined> {
  const moves = text.commands.filter(({ name }) => name === 'cd')
  const here = access.shellFolder()
  if (text.commands.some(({ name }) => name === 'pushd' || name === 'popd')) return undefined
  if (moves.length === 0) return [here]
  const [first] = text.topLevel
  if (moves.length > 1 || first === undefined || first !== moves[0]) return undefined
  const proven = proveWords('cd', first.args)
  const target = proven.ok ? proven.words.at(-1) : undefined
  if (target === undefined) return undefined
  if (target.kind === 'file' && /(^|\/)[^./][^/]*\/+\.\.(\/|$)/.test(target.path)) return undefined
  if ((await writtenWords([target], here, access)) === undefined) return undefined
  return await leadTo(target, here, { access }).then(
    (folder) => [here, folder],
    () => undefined,
  )
}

type LineRedirect = ReadableText['redirects'][number]

function readsOnly({ operator, target }: LineRedirect): boolean {
  if (target?.kind !== 'literal') return false
  const { value } = target
  if (operator === '<') return !value.startsWith('/dev/') || value === '/dev/null'
  if (operator === '<>') return false
  if (operator === '>&' || operator === '<&') return /^(\d+-?|-)$/.test(value)
  return ['/dev/null', '/dev/stdout', '/dev/stderr'].includes(value)
}
