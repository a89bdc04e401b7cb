import type { ShellWord } from '../shell-word.ts'
import { gitUse } from './git-reads.ts'
import { lineFacts, type LineCommand, type LineFacts } from './line-facts.ts'
import { isBuiltin, programCheck } from './reading-programs.ts'
import { scriptWantsMore } from './script-reads.ts'

// Is a line worth running in the sandbox, unasked? Pure. It is if people use every program in it to read, and nothing in it plainly wants
// to write, install, build, serve or reach another machine.

export type InsideVerdict =
  | {
      readonly fits: true
      /** Programs it names, which must be the same inside as outside. */
      readonly programs: ReadonlySet<string>
      /** Words that may be paths. */
      readonly words: readonly ShellWord[]
      /** Folders it moves to, by `cd` or `git -C`. */
      readonly folders: readonly ShellWord[]
      /** It changes the folder. `movesFirst`: before anything else. */
      readonly moves: boolean
      readonly movesFirst: boolean
      /** Variables that it reads and does not set itself. */
      readonly variables: ReadonlySet<string>
      readonly usesGit: boolean
    }
  | { readonly fits: false; readonly why: string }

export function judgeInside(source: string): InsideVerdict {
  const facts = lineFacts(source)
  if (!facts.readable) return { fits: false, why: facts.why }
  if (facts.hasBackground) return { fits: false, why: 'it leaves something running' }
  const written = facts.redirects.find((redirect) => writesFile(redirect))
  if (written !== undefined) return { fits: false, why: `"${written.operator}" writes a file` }
  const found: Found = { programs: new Set(), words: [], folders: [], usesGit: false }
  const lasting = lastsLonger(facts)
  if (lasting !== undefined) return { fits: false, why: lasting }
  for (const command of facts.commands) {
    const why = facts.functions.has(command.name) ? undefined : judgeCommand(command, found)
    if (why !== undefined) return { fits: false, why: `${command.name}: ${why}` }
  }
  if (readsProgram(facts) && scriptWantsMore(source))
    return { fits: false, why: 'its program wants more than to read' }
  const fromFiles = facts.redirects.flatMap(({ operator, target }) =>
    operator === '<' && target ? [target] : [],
  )
  const moves = facts.commands.some(
    ({ name, args }) => isMove(name) || args.some(({ value }) => isMove(value)),
  )
  const movesFirst = facts.commands[0]?.name === 'cd'
  return {
    fits: true,
    ...found,
    moves,
    movesFirst,
    words: [...found.words, ...fromFiles],
    variables: facts.variables,
  }
}

/** The shell is kept and the sandbox is not, so what is meant for later commands must run in the shell. */
function lastsLonger({ commands, functions }: Extract<LineFacts, { readable: true }>): string | undefined {
  const exports = commands.some(({ name, args }) => name === 'export' && args[0] && args[0].value !== '-p')
  if (exports) return 'it exports variables for later commands'
  const unused = [...functions].find((name) => !commands.some((command) => command.name === name))
  return unused === undefined ? undefined : `it defines the function ${unused} for later commands`
}

/** Also after `command` and the like. */
function isMove(word: string): boolean {
  return word === 'cd' || word === 'pushd' || word === 'popd'
}

interface Found {
  readonly programs: Set<string>
  readonly words: ShellWord[]
  readonly folders: ShellWord[]
  usesGit: boolean
}

/** Programs that run the command in their arguments, with a pattern for their own words before it. */
const WRAPPERS = new Map<string, RegExp>([
  ['xargs', /^-([0rtx]+|[InPLd].*|-null|-no-run-if-empty|-max-.*)$/],
  ['timeout', /^(-.*|\d+(\.\d+)?[smhd]?)$/],
  ['nice', /^-/],
  ['env', /^\w+=/],
  ['time', /^-/],
  ['stdbuf', /^-/],
  ['command', /^(?!-)\0/],
])
/** Options of xargs whose value is the next word. */
const TAKES_NEXT = /^-[InPLd]$/
const DEPTH_MAX = 4

function judgeCommand(command: LineCommand, found: Found, depth = 0): string | undefined {
  const name = plainName(command.name)
  if (name === undefined) return 'it is a program of its own'
  const { args } = command
  if (name === 'cd' || name === 'pushd') {
    found.folders.push(...args.filter(({ value }) => !value.startsWith('-')))
    return undefined
  }
  if (!isBuiltin(name)) found.programs.add(name)
  const inner = depth < DEPTH_MAX ? innerCommands(name, args) : undefined
  if (inner === 'unclear') return 'what it runs is not plain'
  if (inner !== undefined) {
    for (const one of inner) {
      const why = judgeCommand(one, found, depth + 1)
      if (why !== undefined) return `${one.name}: ${why}`
    }
    if (name !== 'find') return undefined
  }
  if (name === 'git') {
    found.usesGit = true
    const { why, folders } = gitUse(args)
    const isFolder = ({ value }: ShellWord): boolean => folders.includes(value)
    found.folders.push(...args.filter(isFolder))
    found.words.push(...args.filter((word) => !isFolder(word)))
    return why
  } else if (name === 'find') {
    const bad = args.find(({ value }) => /^-(delete|fprint|fls)/.test(value))
    if (bad !== undefined) return `${bad.value} writes`
  } else {
    const why = programCheck(name, args)
    if (why !== undefined) return why
  }
  // `echo` and `printf` print words, not files; `which` and the like name programs.
  if (name === 'which' || name === 'type' || name === 'command')
    for (const { value } of args.filter((word) => !word.value.startsWith('-'))) found.programs.add(value)
  else if (name !== 'echo' && name !== 'printf') found.words.push(...args)
  return undefined
}

/** A bare name, or the name in the path of a system program. */
function plainName(name: string): string | undefined {
  return name.includes('/') ? /^\/(?:usr\/)?(?:local\/)?s?bin\/([^/]+)$/.exec(name)?.[1] : name
}

/** Commands in the arguments of this one. Undefined: it runs none. */
function innerCommands(
  name: string,
  args: readonly ShellWord[],
): readonly LineCommand[] | 'unclear' | undefined {
  if (name === 'find') return afterExec(args)
  const options = WRAPPERS.get(name)
  if (options === undefined || (name === 'command' && /^-[vV]$/.test(args[0]?.value ?? ''))) return undefined
  let at = 0
  while (at < args.length && options.test(args[at]?.value ?? '')) {
    if (name === 'xargs' && TAKES_NEXT.test(args[at]?.value ?? '')) at++
    at++
  }
  const program = args[at]
  if (program === undefined) return name === 'xargs' ? [] : 'unclear'
  return program.kind === 'literal' ? [{ name: program.value, args: args.slice(at + 1) }] : 'unclear'
}

function afterExec(args: readonly ShellWord[]): readonly LineCommand[] | 'unclear' {
  const found: LineCommand[] = []
  for (const [index, { value }] of args.entries()) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(value)) continue
    const program = args[index + 1]
    const rest = args.slice(index + 2)
    const end = rest.findIndex((word) => word.value === ';' || word.value === '+')
    if (program?.kind !== 'literal' || end === -1) return 'unclear'
    found.push({ name: program.value, args: rest.slice(0, end) })
  }
  return found
}

function readsProgram({ commands }: Extract<LineFacts, { readable: true }>): boolean {
  return commands.some(
    ({ name, args }) =>
      /^(python3?|node|ruby|perl)$/.test(name) && (args.length === 0 || args[0]?.value === '-'),
  )
}

type LineRedirect = Extract<LineFacts, { readable: true }>['redirects'][number]

function writesFile({ operator, target }: LineRedirect): boolean {
  if (operator === '<' || operator === '<&') return false
  if (operator === '>&' && /^(\d+-?|-)$/.test(target?.value ?? '')) return false
  return !/^\/dev\/(null|stdout|stderr)$/.test(target?.value ?? '')
}
