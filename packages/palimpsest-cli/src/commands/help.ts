import type { Command, PlannedCommand } from './command.ts'

export function overview(commands: readonly Command[], planned: readonly PlannedCommand[]): string {
  const rows = [...commands, ...planned]
  const width = Math.max('--version'.length, ...rows.map(({ name }) => name.length))
  const row = ({ name, summary }: PlannedCommand): string => `  ${name.padEnd(width)}  ${summary}\n`
  return [
    'palimpsest: context and memory for LLM agents\n',
    '\nUsage: palimpsest [prompt]  the interactive agent, on a terminal\n',
    '       palimpsest <command> [arguments]\n',
    '\nCommands:\n',
    ...commands.map(row),
    '\nNot built yet:\n',
    ...planned.map(row),
    '\nOptions:\n',
    `  ${'--help'.padEnd(width)}  this text; after a command, that command's own\n`,
    `  ${'--version'.padEnd(width)}  the version\n`,
  ].join('')
}

export function commandHelp(command: Command): string {
  return `Usage: palimpsest ${command.name} ${command.usage}\n\n${command.summary}\n`
}
