import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type CommandArgument,
  type Redirect,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash'

import { mayEvaluate } from './may-evaluate.ts'
import type { ShellWord } from './shell-word.ts'

// A command line as data: every simple command in it, however deeply nested, and every redirection. If the text hides what will run (a
// command name from a variable, arithmetic that may evaluate anything), it counts as unreadable: nobody can judge what they cannot read.

export interface SimpleCommand {
  /** Undefined for bare assignments and redirections. */
  readonly name: string | undefined
  readonly args: readonly ShellWord[]
  /** Names assigned for this command only. */
  readonly assigns: readonly string[]
  /** As written, without assignments and redirections, with single spaces between the words. */
  readonly text: string
  /** Positions of its words, the name first. Inside substitutions, the parser may count from another start. */
  readonly spans: readonly TextSpan[]
}

export interface TextSpan {
  readonly pos: number
  readonly end: number
}

export interface ShellRedirect {
  readonly operator: Redirect['operator']
  readonly target: ShellWord | undefined
}

export type ShellText =
  | { readonly readable: false; readonly why: string }
  | {
      readonly readable: true
      /** In the order they are written. */
      readonly commands: readonly SimpleCommand[]
      readonly redirects: readonly ShellRedirect[]
      readonly hasBackground: boolean
      /** Commands at the top of the line, as in `a && b; c`: nothing nested. */
      readonly topLevel: readonly SimpleCommand[]
    }

/** Longer commands are scripts, which should run from files. */
const COMMAND_CHARS_MAX = 10_000
/** Control characters, odd spaces, marks that change the reading direction: what a reader sees is not what runs. */
const CONFUSING = /[\p{Cc}\p{Cf}\p{Z}]/u
const PLAIN_SPACE = /[ \t\n]/g

class Unreadable extends Error {}

export function parseShell(source: string): ShellText {
  const problem = readingProblem(source)
  if (problem !== undefined) return { readable: false, why: problem }
  try {
    return readScript(source)
  } catch (error) {
    if (error instanceof Unreadable) return { readable: false, why: error.message }
    // The parser gives up on deep nesting with a RangeError. Whatever it throws, we did not understand the text.
    return { readable: false, why: 'it cannot be parsed' }
  }
}

/** Why a text is unreadable, before we parse it as a command. Undefined: it is readable. */
export function readingProblem(source: string): string | undefined {
  if (source.length > COMMAND_CHARS_MAX) return 'it is very long'
  const isConfusing = CONFUSING.test(source.replaceAll(PLAIN_SPACE, ''))
  return isConfusing ? 'it holds control or invisible characters' : undefined
}

/** After a parenthesis that ends a word, the parser sees a comment where bash sees the rest of the word: `ls <(x)# ; y` runs y. */
const COMMENT_IN_WORD = /\)#/

function readScript(source: string): ShellText {
  if (COMMENT_IN_WORD.test(source.replaceAll('\\\n', ''))) throw new Unreadable('a comment in it is odd')
  const script = parse(source)
  const commands = new Map<Command, SimpleCommand>()
  const redirects: ShellRedirect[] = []
  let hasBackground = false
  const visit = (node: SyntaxNode): void => {
    requirePlain(node)
    if (node.type === 'Command') commands.set(node, toCommand(node))
    if (node.type === 'Redirect')
      redirects.push({ operator: node.operator, target: node.target && toWord(node.target) })
    if (node.type === 'Statement' && node.background === true) hasBackground = true
    forEachChild(node, visit)
  }
  visit(script)
  const topLevel = script.commands.flatMap(({ command }) => {
    const parts = command.type === 'AndOr' ? command.commands : [command]
    return parts.flatMap((part) => (part.type === 'Command' ? (commands.get(part) ?? []) : []))
  })
  return { readable: true, commands: [...commands.values()], redirects, hasBackground, topLevel }
}

/** No program has such a name. If a name begins like a list element (`a[ ]$(x)`), the parser misses its substitution, but bash does not. */
const ODD_NAME = /[\s$`;&|<>()\\"']/
/** What bash expands outside quotes. */
const HIDDEN_EXPANSION = /\$[\w@*#?!$({['"-]|`|[<>]\(/
const HIDDEN_OPERATOR = /[\s;&|<>()]/

/** Text that the parser takes as plain must be plain for bash too: `3<(x)` runs x, and `$\` at a line end continues on the next line. */
function requireLiteral({ text }: { readonly text: string }, forbidden: RegExp): void {
  if (forbidden.test(text.replaceAll(/\\[^]/g, ''))) throw new Unreadable('a word in it is odd')
}

function toCommand({ name, args, prefix }: Command): SimpleCommand {
  const word = name && toWord(name)
  if (word !== undefined && word.kind !== 'literal') throw new Unreadable('a command name in it is computed')
  if (word !== undefined && ODD_NAME.test(word.value)) throw new Unreadable('a command name in it is odd')
  const assigned = prefix.filter((item): item is Assignment => item.type === 'Assignment')
  for (const { name: variable } of assigned) requireHarmless(variable, word !== undefined)
  if (word !== undefined) assigned.forEach(requireNoPath)
  const words = args.map(toArgument)
  for (const arg of args)
    if (arg.type === 'Word' && arg.parts === undefined) requireLiteral(arg, HIDDEN_OPERATOR)
  if (word !== undefined && mayEvaluate(word.value, words))
    throw new Unreadable(`"${word.value}" in it may evaluate anything`)
  return {
    name: word?.value,
    args: words,
    assigns: assigned.map((item) => item.name),
    text: [name, ...args].flatMap((part) => part?.text ?? []).join(' '),
    spans: [name, ...args].flatMap((part) => (part === undefined ? [] : [{ pos: part.pos, end: part.end }])),
  }
}

export function toArgument(arg: CommandArgument): ShellWord {
  return arg.type === 'Word'
    ? toWord(arg)
    : { value: arg.text, text: arg.text, kind: 'expands', mayMultiply: true }
}

/** Shell variables with short lower-case names change nothing but the line itself. */
const OWN_VARIABLE = /^[a-z][a-z0-9]{0,15}$/
/** Environment variables that change how a command prints, not what it does. */
const PRINT_VARIABLES = new Set([
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_COLLATE',
  'LC_CTYPE',
  'LC_MESSAGES',
  'LC_TIME',
  'TZ',
  'NO_COLOR',
  'FORCE_COLOR',
  'COLUMNS',
  'CI',
])

function requireHarmless(variable: string, isForCommand: boolean): void {
  if (PRINT_VARIABLES.has(variable) || (!isForCommand && OWN_VARIABLE.test(variable))) return
  throw new Unreadable(`it sets ${variable}, which may change what other commands do`)
}

/** A language or time zone by name. If the value is a path, programs read that file as one and run the formats in it. */
const PLAIN_VALUE = /^(?:[\w.@:+,-]|(?<=\w)\/(?=\w))*$/

function requireNoPath({ name, value }: Assignment): void {
  const isPlain = value.type === 'Word' && toWord(value).kind === 'literal' && PLAIN_VALUE.test(value.value)
  if (!isPlain || /^:|\.\./.test(value.type === 'Word' ? value.value : ''))
    throw new Unreadable(`it sets ${name}, which may change what other commands do`)
}

const ARITHMETIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])
const EVALUATING_TESTS = new Set(['-v', '-R', '-o'])

/** Throws if the node may run something that is not written there, or if we do not understand it. */
function requirePlain(node: SyntaxNode): void {
  switch (node.type) {
    case 'Script':
      if (node.errors !== undefined && node.errors.length > 0) throw new Unreadable('it is not valid bash')
      return
    case 'HereDoc':
      if (node.closing === undefined) throw new Unreadable('a here-document in it does not end')
      return
    case 'Function':
    case 'Coproc':
    case 'Select':
      throw new Unreadable('it defines functions or dialogues')
    case 'ArithmeticFor':
    case 'ArithmeticCommand':
    case 'ArithmeticExpansion':
    case 'ArithmeticCommandExpansion':
      // Bash also evaluates the value of a variable: a[$(any command)].
      throw new Unreadable('arithmetic in it may evaluate anything')
    case 'TestBinary':
      if (ARITHMETIC_TESTS.has(node.operator)) throw new Unreadable('arithmetic in it may evaluate anything')
      return
    case 'TestUnary':
      if (EVALUATING_TESTS.has(node.operator)) throw new Unreadable('a test in it may evaluate anything')
      return
    case 'Assignment':
      if (node.index !== undefined || node.value.type !== 'Word') throw new Unreadable('it uses arrays')
      return
    case 'For':
      requireHarmless(node.name.value, false)
      return
    case 'Redirect':
      // Bash ends the redirection at the dash: in `<& -rm x`, the text after it is a command.
      if (/^-./.test(node.target?.text ?? '') && /^[<>]&$/.test(node.operator))
        throw new Unreadable('a redirection in it is odd')
      return
    case 'Word':
      if (node.parts === undefined) requireLiteral(node, HIDDEN_EXPANSION)
      else if (node.parts.length > 1 && node.parts.some(({ type }) => type === 'ProcessSubstitution'))
        throw new Unreadable('a word in it is odd')
      return
    case 'Literal':
      requireLiteral(node, HIDDEN_EXPANSION)
      return
    case 'ParameterExpansion':
      requirePlainParameter(node)
      return
    case 'FileDescriptorVariable':
      throw new Unreadable('it keeps a channel in a variable')
    default:
      return
  }
}

function requirePlainParameter(node: Extract<WordPart, { type: 'ParameterExpansion' }>): void {
  if (node.prefix === '!' || node.index !== undefined)
    throw new Unreadable('an indirect variable in it may evaluate anything')
  switch (node.operation?.type) {
    case 'Slice':
    case 'Transform':
    case 'Names':
    case 'Unknown':
      throw new Unreadable('an expansion in it may evaluate anything')
    case 'Default':
      if (node.operation.operator.endsWith('=')) requireHarmless(node.parameter, false)
      return
    case 'Remove':
    case 'Replace':
    case 'CaseModification':
    case undefined:
      return
    default:
      node.operation satisfies never
  }
}

export function toWord(word: Word): ShellWord {
  const parts = word.parts ?? []
  const kind = parts.some(partExpands) ? 'expands' : parts.some(isGlob) ? 'glob' : 'literal'
  const mayMultiply = parts.some(
    (part) => part.type !== 'DoubleQuoted' && (partExpands(part) || isGlob(part)),
  )
  return { value: word.value, text: word.text, kind, mayMultiply }
}

function isGlob({ type }: WordPart): boolean {
  return type === 'Glob' || type === 'ExtendedGlob'
}

function partExpands(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return false
    case 'Glob':
    case 'ExtendedGlob':
      return (part.parts ?? []).some(partExpands)
    case 'DoubleQuoted':
      return part.parts.some(({ type }) => type !== 'Literal')
    case 'LocaleString':
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
    case 'BraceExpansion':
      return true
    default:
      part satisfies never
      return true
  }
}
