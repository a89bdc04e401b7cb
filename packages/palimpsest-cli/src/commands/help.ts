import type { Command, PlannedCommand } from './command.ts'
import { COMMAND_TEXTS, type FlagText } from './flag-texts.ts'

/** The narrowest usual terminal, with the last column free: some terminals wrap when it is written. */
const COLUMNS = 79

type Row = readonly [left: string, right: string]

const USAGE: readonly Row[] = [
  ['palimpsest [prompt]', 'start the agent; type /help in it for its commands'],
  ['palimpsest -p "prompt"', 'print one answer and exit; you may pipe the prompt in'],
  ['palimpsest COMMAND …', 'run one of the commands below'],
]
const START_HERE: readonly Row[] = [
  [
    'palimpsest',
    "run it in your project's folder; without a key it works offline and only quotes your files",
  ],
  ['palimpsest doctor', 'check which model will answer, and how to set one up'],
  ['palimpsest demo', 'watch what it does, in about a minute; needs no key'],
]
const COMMON: readonly Row[] = [
  ['-c, --continue', 'resume the session used last in this folder'],
  ['-r, --resume', 'pick a session to resume'],
  ['-m, --model NAME', 'use this model: claude-opus-5-5, ollama/NAME, …'],
  ['--permission-mode MODE', 'default, accept-edits, plan or bypass'],
  ['--max-cost USD', 'stop before the session costs more than this'],
  ['-h, --help', 'print this text, or the help of a command'],
  ['-v, --version', 'print the version'],
]

export function overview(commands: readonly Command[], planned: readonly PlannedCommand[]): string {
  const rows = (of: readonly PlannedCommand[]): readonly Row[] =>
    of.map(({ name, summary }) => [name, summary])
  return [
    'palimpsest: context and memory for LLM agents\n',
    section('Usage', USAGE),
    section('Start here', START_HERE),
    section('Common options (`palimpsest -p --help` lists all)', COMMON),
    section('Commands', rows(commands)),
    section('Not built yet', rows(planned)),
  ].join('\n')
}

/** Usage, what each flag does, and example calls. */
export function commandHelp(command: Command): string {
  const { flags, actions = [], examples } = COMMAND_TEXTS[command.name] ?? { flags: {}, examples: [] }
  const options = Object.keys(command.options).flatMap((flag): readonly Row[] => {
    const text = flags[flag]
    return text === undefined ? [] : [flagRow(flag, text, command)]
  })
  const name = command.name === '-p' ? '[-p]' : command.name
  const calls = command.usage.split('\n').map((usage) => `palimpsest ${name} ${usage}`.trimEnd())
  return [
    `Usage: ${calls.join('\n       ')}\n`,
    `${wrap(capital(command.summary), COLUMNS).join('\n')}.\n`,
    section('Actions', actions),
    section('Options', options),
    section('Examples', examples, CALL_COLUMNS_MAX),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function flagRow(flag: string, text: FlagText, { options }: Command): Row {
  const { short } = options[flag] ?? {}
  const [value, says] = typeof text === 'string' ? ['', text] : text
  return [`${short === undefined ? '' : `-${short}, `}--${flag} ${value}`.trimEnd(), says]
}

/** A longer left side gets its own line. */
const LEFT_COLUMNS_MAX = 26
const CALL_COLUMNS_MAX = 40

function section(title: string, rows: readonly Row[], leftMax = LEFT_COLUMNS_MAX): string {
  return rows.length === 0 ? '' : `${title}:\n${inColumns(rows, leftMax)}`
}

function inColumns(rows: readonly Row[], leftMax: number): string {
  const lefts = rows.map(([left]) => left.length).filter((columns) => columns <= leftMax)
  const width = lefts.length === 0 ? 4 : Math.max(...lefts)
  const margin = ' '.repeat('  '.length + width + '  '.length)
  return rows
    .map(([left, right]) => {
      const lines = wrap(right, COLUMNS - margin.length).map((line) => `${margin}${line}\n`)
      const [first = '', ...more] = lines
      if (left.length > width) return `  ${left}\n${lines.join('')}`
      return `  ${left.padEnd(width)}  ${first.slice(margin.length)}${more.join('')}`
    })
    .join('')
}

function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > columns && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
