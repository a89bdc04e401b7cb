import { parseArgs } from 'node:util'

import { UsageError } from 'palimpsest'

import type { Command, CommandInput } from './command.ts'
import { COMMANDS, PLANNED } from './command-table.ts'
import { agent } from './agent.ts'
import { commandHelp, overview } from './help.ts'
import { findSimilarName } from '../agent/similar-name.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

export async function runCli(args: readonly string[], world: World): Promise<ExitCode> {
  try {
    return await dispatch(args, world)
  } catch (error) {
    const { reportError } = await import('../report-error.ts')
    const isStopped = world.signal.aborted
    const { text, exit } = reportError(error, { debug: args.includes('--debug'), isStopped })
    world.printError(text)
    return exit
  }
}

async function dispatch(args: readonly string[], world: World): Promise<ExitCode> {
  const [first, ...rest] = args
  if (first === '--version' || first === '-v') return say(world, `${world.version}\n`)
  if (first === '--help' || first === '-h' || first === 'help') {
    const asked = COMMANDS.find(({ name }) => name === rest[0])
    return say(world, asked ? commandHelp(asked) : overview(COMMANDS, PLANNED))
  }
  const command = COMMANDS.find(({ name }) => name === first)
  if (command) return await runCommand(command, withOwnSpelling(rest), world)
  const planned = PLANNED.find(({ name }) => name === first)
  if (planned) throw new UsageError(`${planned.summary}: not built yet. \`palimpsest --help\` lists what is`)
  const similar = findMistyped(args)
  if (similar !== undefined)
    throw new UsageError(
      `there is no command "${first}". Did you mean \`palimpsest ${similar}\`? To send the word itself to the agent: \`palimpsest -p ${first}\``,
    )
  return await runCommand(agent, withPicker(withOwnSpelling(args)), world)
}

/** A word that is nearly a command's name, alone or with flags after it. A sentence is a prompt. */
function findMistyped([first = '', ...rest]: readonly string[]): string | undefined {
  if (first.startsWith('-') || !rest.every((word) => word.startsWith('-'))) return undefined
  return findSimilarName(
    first,
    [...COMMANDS, ...PLANNED].map(({ name }) => name),
  )
}

/** Spellings that other agents use. */
const OTHER_SPELLINGS: { readonly [flag: string]: string } = {
  '--allowedTools': '--allowed-tools',
  '--disallowedTools': '--disallowed-tools',
  '--allow-dangerously-skip-permissions': '--dangerously-skip-permissions',
  '--dangerously-bypass-approvals-and-sandbox': '--dangerously-skip-permissions',
  '--yolo': '--dangerously-skip-permissions',
  '--max-budget-usd': '--max-cost',
  '--max-session-turns': '--max-turns',
  '--include-directories': '--add-dir',
  '--cd': '--cwd',
  '--full-auto': '--permission-mode=accept-edits',
}

function withOwnSpelling(args: readonly string[]): readonly string[] {
  return withRulesJoined(
    args.map((arg) => {
      const end = arg.indexOf('=')
      const name = end === -1 ? arg : arg.slice(0, end)
      return `${OTHER_SPELLINGS[name] ?? name}${end === -1 ? '' : arg.slice(end)}`
    }),
  )
}

const RULE_FLAGS = new Set(['--allowed-tools', '--disallowed-tools'])
const RULE = /^[A-Z]\w*(?:\([^]*\))?$/

/** Other agents take rules as several words: `--allowedTools "Bash(git log:*)" Read`. */
function withRulesJoined(args: readonly string[]): readonly string[] {
  const joined: string[] = []
  let takesMore = false
  for (const [place, arg] of args.entries()) {
    const isValue = RULE_FLAGS.has(args[place - 1] ?? '')
    if (takesMore && RULE.test(arg)) joined.push(`${joined.pop() ?? ''},${arg}`)
    else {
      joined.push(arg)
      takesMore = isValue
    }
  }
  return joined
}

/** `--resume` may come without an id: then it shows a list. */
function withPicker(args: readonly string[]): readonly string[] {
  return args.map((arg, i) => {
    const next = args[i + 1]
    const isBare = (arg === '--resume' || arg === '-r') && (next === undefined || /^-./.test(next))
    return isBare ? '--resume=' : arg
  })
}

async function runCommand(command: Command, args: readonly string[], world: World): Promise<ExitCode> {
  const input = parseInput(command, args)
  if (input.flags['help'] === true) return say(world, commandHelp(command))
  return await command.run(input, world)
}

/** Commands whose one word is a text. */
const QUOTED = new Set(['-p', 'team', 'purge'])

function parseInput(command: Command, args: readonly string[]): CommandInput {
  const hint = `\`palimpsest ${command.name} --help\` shows how`
  const { values, positionals } = parseStrictly(command, args, hint)
  if (positionals.length > command.wordsMax) {
    const cure = QUOTED.has(command.name) ? ': put several words in quotes' : ''
    throw new UsageError(`unexpected argument "${positionals[command.wordsMax]}"${cure}; ${hint}`)
  }
  const flags: { [name: string]: string | boolean | undefined } = {}
  // A flag that may be repeated has one value per line.
  for (const [name, value] of Object.entries(values))
    flags[name] = Array.isArray(value) ? value.join('\n') : value
  return { flags, words: positionals }
}

function parseStrictly(
  command: Command,
  args: readonly string[],
  hint: string,
): ReturnType<typeof parseArgs> {
  try {
    const options = {
      ...command.options,
      help: { type: 'boolean', short: 'h' },
      debug: { type: 'boolean' },
    } as const
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${firstSentence(error)}${meantFlag(error, command) ?? ';'} ${hint}`, {
      cause: error,
    })
  }
}

const UNKNOWN_FLAG = /unknown option '--([^']+)'/i

function meantFlag(error: unknown, { options }: Command): string | undefined {
  const [, typed = ''] = UNKNOWN_FLAG.exec(error instanceof Error ? error.message : '') ?? []
  const similar = findSimilarName(typed, Object.keys(options))
  return similar === undefined ? undefined : `. Did you mean --${similar}?`
}

/** Node explains at length; the first sentence says what is wrong. */
function firstSentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const sentence = text.split(/[.\n]/)[0] ?? text
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

function say(world: World, text: string): ExitCode {
  world.print(text)
  return DONE
}
