import type { ShellText, SimpleCommand } from '../command/parse-shell.ts'
import type { Rule } from './rule.ts'

// Rules about commands. A rule that allows must cover every command of a line; one that forbids needs to meet one of them.

/** `npm run test:*` covers `npm run test`, `npm run test:unit` and `npm run test -- x`; `git * main` has a star of its own. */
export function matchesCommand(rule: Rule, text: string): boolean {
  if (rule.pattern === undefined) return true
  const plain = squeeze(text)
  const pattern = squeeze(rule.pattern)
  if (!pattern.endsWith(':*')) return toRegExp(pattern).test(plain)
  const prefix = pattern.slice(0, -2)
  const start = prefix.includes('*')
    ? new RegExp(`${toRegExp(prefix).source.slice(0, -1)}(?:$|[\\s:])`, 's')
    : undefined
  if (start !== undefined) return start.test(plain)
  return plain === prefix || plain.startsWith(`${prefix} `) || plain.startsWith(`${prefix}:`)
}

/** Programs that run what stands behind them. A rule that forbids looks through them. */
const WRAPPERS = new Set(
  'sudo doas env nohup timeout nice ionice stdbuf setsid xargs time busybox watch strace ltrace chroot unshare parallel find'.split(
    ' ',
  ),
)

/** Every way to read the command: as it is, and from each word behind a wrapper on. */
export function readingsOf(command: SimpleCommand): readonly string[] {
  if (command.name === undefined) return []
  if (!WRAPPERS.has(baseName(command.name))) return [command.text, withBaseName(command)]
  const words = [command.name, ...command.args.map(({ value }) => value)]
  return [command.text, withBaseName(command), ...words.map((_, index) => words.slice(index).join(' '))]
}

/** Is one of the commands forbidden? `unreadable`: nobody can say. */
export function meetsCommand(rule: Rule, text: ShellText, source: string): 'yes' | 'no' | 'unreadable' {
  if (rule.pattern === undefined || matchesCommand(rule, source)) return 'yes'
  if (!text.readable) return 'unreadable'
  return text.commands.some((command) => readingsOf(command).some((reading) => matchesCommand(rule, reading)))
    ? 'yes'
    : 'no'
}

function withBaseName({ name = '', args }: SimpleCommand): string {
  return [baseName(name), ...args.map(({ value }) => value)].join(' ')
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

function squeeze(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`, 's')
}
