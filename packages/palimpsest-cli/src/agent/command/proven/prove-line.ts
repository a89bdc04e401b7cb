import {
  forEachChild,
  parse,
  type SyntaxNode,
  type AndOr,
  type Command,
  type PipelineNode,
  type Redirection,
} from 'unbash'

import { readingProblem, toArgument, toWord } from '../parse-shell.ts'
import type { ShellWord } from '../shell-word.ts'
import { proveArguments, text, type Proven, type ProvenWord } from './argument-grammar.ts'
import { proveGit } from './git-grammar.ts'
import { findGrammar } from './program-grammars.ts'
import { SPECIAL, VERSIONS } from './special-grammars.ts'

// For machines without a sandbox: lines that are known to only read because every word of them is known. Only commands joined by `|`,
// `&&`, `||` and `;`. We do not run the line that we read, but one that we write from what we understood, so that it contains nothing
// unchecked.

export interface ProvenCommand {
  readonly name: string
  readonly words: readonly ProvenWord[]
  /** As bash writes them: `2>&1`, `>/dev/null`. */
  readonly redirects: readonly string[]
  /** File that it reads as its input. */
  readonly input?: ProvenWord | undefined
}

export interface ProvenStep {
  /** The operator before it. */
  readonly joint: '' | '&&' | '||' | ';'
  readonly isNegated: boolean
  readonly commands: readonly ProvenCommand[]
}

export type LineProof =
  | {
      readonly proven: true
      /** Where a leading `cd` goes. Undefined: there is none. */
      readonly folder?: ProvenWord | undefined
      readonly steps: readonly ProvenStep[]
      readonly usesGit: boolean
      /** It reads the content of files that no word names. */
      readonly readsBelow: boolean
    }
  | { readonly proven: false; readonly why: string }

class Unproven extends Error {}

export function proveLine(source: string): LineProof {
  const problem = readingProblem(source)
  if (problem !== undefined) return { proven: false, why: problem }
  try {
    return prove(source)
  } catch (error) {
    return { proven: false, why: error instanceof Unproven ? error.message : 'it cannot be parsed' }
  }
}

function prove(source: string): LineProof {
  const script = parse(source)
  requirePlain(script)
  requireWhole(script, source)
  if (script.errors !== undefined && script.errors.length > 0) throw new Unproven('it is not valid bash')
  const steps: ProvenStep[] = []
  for (const { command, background } of script.commands) {
    if (background === true) throw new Unproven('it leaves something running')
    const [parts, joints] = partsOf(command)
    for (const [index, part] of parts.entries()) {
      const joint = index === 0 ? (steps.length === 0 ? '' : ';') : (joints[index - 1] ?? ';')
      steps.push(proveStep(part, joint))
    }
  }
  const [first, ...others] = steps
  if (first === undefined) throw new Unproven('it is empty')
  const folder = leadingFolder(first)
  const rest = folder === undefined ? steps : afterMove(others)
  const commands = rest.flatMap((step) => step.commands)
  if (commands.some(({ name }) => name === 'cd')) throw new Unproven('it changes the folder on its way')
  return {
    proven: true,
    folder,
    steps: rest,
    usesGit: commands.some(asksRepository),
    readsBelow: commands.some(readsBelow),
  }
}

/** All node types of a proven line. Nothing else gets as far as the grammars, even if they forget to check for it. */
const PLAIN_NODES = new Set<SyntaxNode['type']>([
  'Script',
  'Statement',
  'AndOr',
  'Pipeline',
  'Negation',
  'Command',
  'Word',
  'Literal',
  'SingleQuoted',
  'DoubleQuoted',
  'AnsiCQuoted',
  'Glob',
  'Redirect',
  'FileDescriptor',
])

function requirePlain(node: SyntaxNode): void {
  if (!PLAIN_NODES.has(node.type)) throw new Unproven('it holds more than plain commands')
  forEachChild(node, requirePlain)
}

/** What may be between words: operators, space, comments. */
const BETWEEN = /^(?:\s|\\\n|&&|[|;!]|#[^\n]*(?:\n|$))*$/

/** The parser skips an operator in an odd place where bash stops, so every character must be part of what we understood. */
function requireWhole(script: SyntaxNode, source: string): void {
  const spans: { readonly pos: number; readonly end: number }[] = []
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Word' || node.type === 'Redirect') spans.push(node)
    else forEachChild(node, visit)
  }
  visit(script)
  let at = 0
  for (const { pos, end } of spans.toSorted((a, b) => a.pos - b.pos)) {
    if (!BETWEEN.test(source.slice(at, pos))) throw new Unproven('it is not valid bash')
    at = end
  }
  if (!BETWEEN.test(source.slice(at))) throw new Unproven('it is not valid bash')
}

function partsOf(
  command: AndOr | PipelineNode,
): readonly [readonly PipelineNode[], readonly ('&&' | '||')[]] {
  return command.type === 'AndOr' ? [command.commands, command.operators] : [[command], []]
}

function proveStep(node: PipelineNode, joint: ProvenStep['joint']): ProvenStep {
  if (node.type !== 'Pipeline') return { joint, isNegated: false, commands: [proveCommand(node)] }
  const isNegated = node.prefixes.length > 0
  if (node.prefixes.some(({ type }) => type !== 'Negation') || node.prefixes.length > 1)
    throw new Unproven('it is timed')
  if (node.operators.some((operator) => operator !== '|')) throw new Unproven('it joins streams')
  return { joint, isNegated, commands: node.commands.map(proveCommand) }
}

function proveCommand(node: { readonly type: string } | Command): ProvenCommand {
  if (!isCommand(node)) throw new Unproven('it holds more than plain commands')
  if (node.name === undefined || node.prefix.some(({ type }) => type === 'Assignment'))
    throw new Unproven('it sets variables')
  const name = toWord(node.name)
  if (name.kind !== 'literal') throw new Unproven('a command name in it is computed')
  const proven = proveWords(name.value, node.args.map(toArgument))
  if (!proven.ok) throw new Unproven(`${name.value}: ${proven.why}`)
  const redirects = node.redirects.map(toRedirect)
  const inputs = redirects.flatMap((redirect) => (typeof redirect === 'string' ? [] : [redirect]))
  if (inputs.length > 1) throw new Unproven('it has several inputs')
  const [input] = inputs
  return {
    name: name.value,
    words: proven.words,
    redirects: redirects.filter((redirect) => typeof redirect === 'string'),
    input,
  }
}

function isCommand(node: { readonly type: string } | Command): node is Command {
  return node.type === 'Command'
}

/** Proves a single command, for a line whose rest is allowed by rules. */
export function proveWords(name: string, args: readonly ShellWord[]): Proven {
  if (name === 'cd') return proveArguments(args, { rest: 'file', operandsMax: 1, operandsMin: 1 })
  if (name === 'git') return proveVersionOfGit(args) ?? proveGit(args)
  const special = SPECIAL.get(name) ?? VERSIONS.get(name)
  if (special !== undefined) return special(args)
  const grammar = findGrammar(name)
  return grammar === undefined ? { ok: false, why: 'may do more than read' } : proveArguments(args, grammar)
}

function proveVersionOfGit([only, ...more]: readonly ShellWord[]): Proven | undefined {
  const isAsking = only?.kind === 'literal' && (only.value === '--version' || only.value === 'version')
  return isAsking && more.length === 0 ? { ok: true, words: [text('--version')] } : undefined
}

/** To /dev/null, or from one channel to another; from a file, as its word. */
function toRedirect(redirect: Redirection): string | ProvenWord {
  if (redirect.type !== 'Redirect') throw new Unproven('it holds a here-document')
  const { operator, descriptor } = redirect
  const target = redirect.target && toWord(redirect.target)
  if (descriptor?.type === 'FileDescriptorVariable') throw new Unproven('it keeps a channel in a variable')
  if (target?.kind !== 'literal') throw new Unproven('the target of a redirection is computed')
  const channel = descriptor?.value ?? ''
  if (operator === '<' && channel === '') {
    const [, file] = mustProve(proveArguments([target], { rest: 'file' }))
    if (file?.kind === 'file' && !target.value.startsWith('/dev/')) return file
  }
  const isNull = target.value === '/dev/null'
  if (isNull && ['>', '>>', '&>', '<'].includes(operator) && /^[012]?$/.test(String(channel)))
    return `${channel}${operator}/dev/null`
  if (operator === '>&' && /^[12]$/.test(target.value) && /^[12]?$/.test(String(channel)))
    return `${channel}>&${target.value}`
  throw new Unproven(`"${operator}" may write a file`)
}

function mustProve(proven: Proven): readonly ProvenWord[] {
  if (!proven.ok) throw new Unproven(proven.why)
  return proven.words
}

/** One `cd` at the very start. */
function leadingFolder({ commands, isNegated }: ProvenStep): ProvenWord | undefined {
  const [only, ...more] = commands
  if (only?.name !== 'cd' || more.length > 0 || isNegated || only.redirects.length > 0) return undefined
  const [, folder] = only.words
  return folder
}

/** The rest runs there, or not at all. */
function afterMove([next, ...others]: readonly ProvenStep[]): readonly ProvenStep[] {
  if (next === undefined) return []
  if (next.joint === '||') throw new Unproven('it has a second way')
  return [{ ...next, joint: '' }, ...others]
}

/** Every use of git except asking for its version. */
function asksRepository({ name, words }: Pick<ProvenCommand, 'name' | 'words'>): boolean {
  const [first] = words
  return name === 'git' && !(first?.kind === 'text' && first.text === '--version')
}

function readsBelow({ name, words }: ProvenCommand): boolean {
  const has = (...flags: readonly string[]): boolean =>
    words.some((word) => word.kind === 'text' && flags.includes(word.text))
  return (
    asksRepository({ name, words }) || name === 'rg' || (/^[ef]?grep$/.test(name) && has('-r', '--recursive'))
  )
}
