import {
  forEachChild,
  parse,
  type Command,
  type Redirection,
  type Script,
  type SyntaxNode,
  type WordPart,
} from 'unbash'

// The lines that rules from "always" may cover: pipelines of simple commands, one after the other, with nothing nested and nothing
// assigned. In any other line the same command may get other input, another folder or another environment than it had when the user
// saw it.

export interface PlainCommand {
  readonly name: string
  readonly args: readonly string[]
  /** As written, with single spaces between the words. */
  readonly text: string
  /** It gets its input from a pipe, a file or a here-document. */
  readonly isFed: boolean
  /** Every word is literal: no variable, braces or pattern of names, which could expand to an option next time. */
  readonly isFixed: boolean
}

export interface PlainLine {
  readonly commands: readonly PlainCommand[]
  /** The target of `cd x && …`. Undefined: the whole line runs in the shell's folder. */
  readonly movesTo: string | undefined
}

/** Undefined for any other line. Takes a line that `parseShell` can read. */
export function toPlainLine(source: string): PlainLine | undefined {
  const script = parse(source)
  const pipelines = script.commands.flatMap(({ command }) =>
    command.type === 'AndOr' ? command.commands : [command],
  )
  const found: (PlainCommand | undefined)[] = pipelines.flatMap((pipeline) => {
    if (pipeline.type === 'Pipeline' && pipeline.prefixes.some(({ type }) => type === 'Time'))
      return [undefined]
    const parts = pipeline.type === 'Pipeline' ? pipeline.commands : [pipeline]
    return parts.map((part, place) => (part.type === 'Command' ? toPlain(part, place > 0) : undefined))
  })
  const commands = found.filter((command) => command !== undefined)
  if (commands.length < found.length || commands.length !== countCommands(script)) return undefined
  const moves = commands.filter(({ name }) => MOVES.has(name))
  if (moves.length === 0) return { commands, movesTo: undefined }
  const movesTo = moves.length === 1 ? moveAtStart(script, commands[0]) : undefined
  return movesTo === undefined ? undefined : { commands: commands.slice(1), movesTo }
}

const MOVES = new Set(['cd', 'pushd', 'popd'])

function toPlain(command: Command, isPiped: boolean): PlainCommand | undefined {
  const { name, args, prefix, redirects } = command
  if (name === undefined || prefix.some(({ type }) => type === 'Assignment')) return undefined
  return {
    name: name.value,
    args: args.map((arg) => (arg.type === 'Word' ? arg.value : arg.text)),
    text: [name, ...args].map(({ text }) => text).join(' '),
    isFed: isPiped || redirects.some(feeds),
    isFixed: [name, ...args].every((word) => word.type === 'Word' && (word.parts ?? []).every(isFixed)),
  }
}

function isFixed(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return true
    case 'DoubleQuoted':
      return part.parts.every(isFixed)
    default:
      return false
  }
}

function feeds(redirect: Redirection): boolean {
  switch (redirect.operator) {
    case '<<':
    case '<<-':
    case '<<<':
    case '<>':
    case '<&':
      return true
    case '<':
      return redirect.target?.text !== '/dev/null'
    default:
      return false
  }
}

/** Counts commands at every depth: more than at the top means that something is nested. */
function countCommands(script: Script): number {
  let count = 0
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Command') count++
    forEachChild(node, visit)
  }
  visit(script)
  return count
}

/** The target of a `cd` that comes first and must succeed: after `;` or `||`, the rest might still run in the old folder. */
function moveAtStart(script: Script, first: PlainCommand | undefined): string | undefined {
  const [statement, ...others] = script.commands
  if (others.length > 0 || statement?.command.type !== 'AndOr' || first?.name !== 'cd') return undefined
  // In a pipe, `cd` moves only itself.
  if (statement.command.commands[0]?.type !== 'Command') return undefined
  const [target, ...more] = first.args
  const isPlain = first.text === `cd ${target}` && target !== undefined && /^[\w./@+-]+$/.test(target)
  if (!isPlain || more.length > 0 || target.startsWith('-') || target.split('/').includes('..'))
    return undefined
  return statement.command.operators.every((operator) => operator === '&&') ? target : undefined
}
