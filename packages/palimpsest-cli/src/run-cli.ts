import { parseArgs } from 'node:util'

import { ProviderError, StorageError, UsageError } from 'palimpsest'

import { toPrintable } from './agent/printable.ts'
import type { Command, CommandInput } from './command.ts'
import { COMMANDS, PLANNED } from './command-table.ts'
import { agent } from './commands/agent.ts'
import { commandHelp, overview } from './help.ts'
import { DONE, FAILED, WRONG_USAGE, type ExitCode, type World } from './world.ts'

export async function runCli(args: readonly string[], world: World): Promise<ExitCode> {
  try {
    return await dispatch(args, world)
  } catch (error) {
    return report(error, world)
  }
}

async function dispatch(args: readonly string[], world: World): Promise<ExitCode> {
  const [first, ...rest] = args
  if (first === '--version' || first === '-v') return say(world, `${world.version}\n`)
  if (first === '--help' || first === '-h' || first === 'help')
    return say(world, overview([agent, ...COMMANDS], PLANNED))
  const command = COMMANDS.find(({ name }) => name === first)
  if (command) return await runCommand(command, rest, world)
  const planned = PLANNED.find(({ name }) => name === first)
  if (!planned) return await runCommand(agent, args, world)
  throw new UsageError(`${planned.summary}: not built yet. \`palimpsest --help\` lists what is`)
}

async function runCommand(command: Command, args: readonly string[], world: World): Promise<ExitCode> {
  const input = parseInput(command, args)
  if (input.flags['help'] === true) return say(world, commandHelp(command))
  return await command.run(input, world)
}

function parseInput(command: Command, args: readonly string[]): CommandInput {
  const hint = `\`palimpsest ${command.name} --help\` shows how`
  const { values, positionals } = parseStrictly(command, args, hint)
  if (positionals.length > command.wordsMax) {
    throw new UsageError(`unexpected argument "${positionals[command.wordsMax]}"; ${hint}`)
  }
  const flags: { [name: string]: string | boolean | undefined } = {}
  for (const [name, value] of Object.entries(values)) if (!Array.isArray(value)) flags[name] = value
  return { flags, words: positionals }
}

function parseStrictly(
  command: Command,
  args: readonly string[],
  hint: string,
): ReturnType<typeof parseArgs> {
  try {
    const options = { ...command.options, help: { type: 'boolean', short: 'h' } } as const
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${firstSentence(error)}; ${hint}`, { cause: error })
  }
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

/** One line for whoever must act. What is ours to mend comes with its stack. */
function report(error: unknown, world: World): ExitCode {
  const known = error instanceof UsageError || error instanceof StorageError || error instanceof ProviderError
  const text =
    error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error)
  world.printError(`palimpsest: ${toPrintable(text)}\n`)
  return error instanceof UsageError ? WRONG_USAGE : FAILED
}
