import type { Command, PlannedCommand } from './command.ts'
import { COMMAND_TEXTS } from './flag-texts.ts'

export function overview(commands: readonly Command[], planned: readonly PlannedCommand[]): string {
  const rows = [...commands, ...planned]
  const width = Math.max('--version'.length, ...rows.map(({ name }) => name.length))
  const row = ({ name, summary }: PlannedCommand): string => `  ${name.padEnd(width)}  ${summary}\n`
  return [
    'palimpsest: context and memory for LLM agents\n',
    '\nUsage: palimpsest [prompt]  the interactive agent, on a terminal; /help in it lists its commands\n',
    '       palimpsest -p "prompt"  one answer, then back to the shell; `palimpsest -p --help` lists the flags of both\n',
    '       palimpsest <command> [arguments]\n',
    '\nCommands:\n',
    ...commands.map(row),
    '\nNot built yet:\n',
    ...planned.map(row),
    '\nOptions:\n',
    `  ${'--help'.padEnd(width)}  this text; after a command, that command's own\n`,
    `  ${'--version'.padEnd(width)}  the version\n`,
    '\nStart here:\n',
    '  palimpsest            in the folder of your project; without a key it searches and quotes, offline\n',
    '  palimpsest doctor     which model it would ask, and how to set one up\n',
    '  palimpsest demo       a minute that shows what it does; needs no key\n',
  ].join('')
}

/** How it is called, what each flag does, and calls to start from. */
export function commandHelp(command: Command): string {
  const { flags = {}, examples = [] } = COMMAND_TEXTS[command.name] ?? {}
  const rows = Object.keys(command.options).flatMap((flag) => {
    const text = flags[flag]
    return text === undefined ? [] : [[flagName(flag, command), text] as const]
  })
  const name = command.name === '-p' ? '[-p] ' : `${command.name} `
  const parts = [
    `Usage: palimpsest ${name}${command.usage}\n\n${command.summary}\n`,
    ...(rows.length > 0 ? [`\nOptions:\n${inColumns(rows)}`] : []),
    ...(examples.length > 0 ? [`\nExamples:\n${inColumns(examples)}`] : []),
  ]
  return parts.join('')
}

function flagName(flag: string, { options }: Command): string {
  const { short } = options[flag] ?? {}
  return `${short === undefined ? '' : `-${short}, `}--${flag}`
}

/** A left side that is longer stands on a line of its own. */
const LEFT_COLUMNS_MAX = 40

function inColumns(rows: readonly (readonly [left: string, right: string])[]): string {
  const width = Math.max(
    0,
    ...rows.map(([left]) => left.length).filter((columns) => columns <= LEFT_COLUMNS_MAX),
  )
  return rows
    .map(([left, right]) =>
      left.length > width
        ? `  ${left}\n  ${' '.repeat(width)}  ${right}\n`
        : `  ${left.padEnd(width)}  ${right}\n`,
    )
    .join('')
}
