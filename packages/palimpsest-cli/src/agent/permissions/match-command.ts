import type { ShellText, SimpleCommand } from '../command/parse-shell.ts'
import { matchWildcard, parseWildcard, type Bounds, type Wildcard } from '../patterns/wildcard.ts'
import type { Rule } from './rule.ts'
import { WRAPPING_PROGRAMS } from './wrapping-programs.ts'

// Rules about commands. A rule that allows must cover every command of a line; one that forbids needs to meet one of them. The time is
// proportional to the length of rule and line, whatever they are.

/** `npm run test:*` covers `npm run test`, `npm run test:unit` and `npm run test -- x`; `git * main` has a star of its own. */
export function matchesCommand({ pattern }: Rule, text: string): boolean {
  if (pattern === undefined) return true
  if (STAND_INS.test(text)) return false
  return matchesFrom(parseCommandPattern(squeezeUnquoted(pattern)), squeezeUnquoted(text), (at) => at === 0)
}

/** A rule for this very line, whatever is in it. */
export function isWholeLine({ pattern, always }: Rule, source: string): boolean {
  if (pattern === undefined) return true
  const wildcard = parseWildcard(pattern.trim())
  return !always && wildcard.length === 1 && wildcard[0] === source.trim()
}

interface CommandPattern {
  readonly wildcard: Wildcard
  /** It ended in `:*`: what follows after a space or a colon is of no matter. */
  readonly isPrefix: boolean
}

const PREFIX_MARK = ':*'

function parseCommandPattern(pattern: string): CommandPattern {
  const isPrefix = pattern.endsWith(PREFIX_MARK)
  return { wildcard: parseWildcard(isPrefix ? pattern.slice(0, -PREFIX_MARK.length) : pattern), isPrefix }
}

function matchesFrom(
  { wildcard, isPrefix }: CommandPattern,
  text: string,
  startsAt: Bounds['startsAt'],
): boolean {
  const endsAt = (at: number): boolean => at === text.length || (isPrefix && /[\s:]/.test(text.charAt(at)))
  return matchWildcard(wildcard, text, { startsAt, endsAt }).matches
}

/** Programs that run what follows them, in words of their own or in one. A rule that forbids looks through them. */
const WRAPPERS = new Set([...WRAPPING_PROGRAMS, ...'find sh bash dash ash zsh ksh mksh fish'.split(' ')])

/** Is one of the commands forbidden? `unreadable`: nobody can say. */
export function meetsCommand(rule: Rule, text: ShellText, source: string): 'yes' | 'no' | 'unreadable' {
  if (rule.pattern === undefined) return 'yes'
  const pattern = parseCommandPattern(squeeze(rule.pattern))
  if (matchesFrom(pattern, squeeze(source), (at) => at === 0)) return 'yes'
  if (!text.readable) return 'unreadable'
  return text.commands.some((command) => isMet(pattern, command)) ? 'yes' : 'no'
}

/** As it is written, by the program's bare name in any case of letters, since some disks know no other, and, after a wrapper, from each word on, also one that names a program by its path. */
function isMet(pattern: CommandPattern, command: SimpleCommand): boolean {
  if (command.name === undefined) return false
  const bare = squeeze(wordsOf(command).join(' '))
  const lower = `${baseName(command.name).toLowerCase()}${bare.slice(baseName(command.name).length)}`
  const isWrapped = WRAPPERS.has(baseName(command.name))
  const startsAt = (at: number): boolean => at === 0 || (isWrapped && /[ /]/.test(bare.charAt(at - 1)))
  return (
    matchesFrom(pattern, squeeze(command.text), (at) => at === 0) ||
    matchesFrom(pattern, bare, startsAt) ||
    matchesFrom(pattern, lower, startsAt)
  )
}

function wordsOf({ name = '', args }: SimpleCommand): readonly string[] {
  return [baseName(name), ...args.map(({ value }) => value)]
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

/** What forbids is meant however it is spaced. */
function squeeze(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** Characters of nobody's, for spaces that part no words. */
const STAND_IN = 0xe000
const STAND_INS = /[\uE000-\uE0FF]/

/**
 * What allows is meant however it is spaced between the words. Inside of quotes or after a backslash a space is part of the word, and no
 * space of a pattern stands for it.
 */
function squeezeUnquoted(text: string): string {
  return Array.from(
    text.trim().matchAll(/'[^']*'?|"(?:[^"\\]|\\[^])*"?|\\[^]|\s+|[^\s'"\\]+|\\/g),
    ([part]) => (part.trim() === '' ? ' ' : part.replaceAll(/\s/g, standIn)),
  ).join('')
}

function standIn(space: string): string {
  return String.fromCharCode(STAND_IN + (space.charCodeAt(0) & 0xff))
}
