import type { ShellText, SimpleCommand } from '../command/parse-shell.ts'
import { matchWildcard, parseWildcard, type Bounds, type Wildcard } from '../patterns/wildcard.ts'
import type { Rule } from './rule.ts'
import { WRAPPING_PROGRAMS } from './wrapping-programs.ts'

// Rules about commands. An allow rule must cover every command of a line; a deny or ask rule needs to match only one. Matching takes time
// proportional to the length of rule and line, whatever they contain.

/** `npm run test:*` covers `npm run test`, `npm run test:unit` and `npm run test -- x`; the star in `git * main` is a plain wildcard. */
export function matchesCommand({ pattern }: Rule, text: string): boolean {
  if (pattern === undefined) return true
  if (STAND_INS.test(text)) return false
  return matchesFrom(parseCommandPattern(squeezeUnquoted(pattern)), squeezeUnquoted(text), (at) => at === 0)
}

/** The rule covers the line as a whole: it has no pattern, or it is written for exactly this line. */
export function isWholeLine({ pattern, always }: Rule, source: string): boolean {
  if (pattern === undefined) return true
  const wildcard = parseWildcard(pattern.trim())
  return !always && wildcard.length === 1 && wildcard[0] === source.trim()
}

interface CommandPattern {
  readonly wildcard: Wildcard
  /** It ended in `:*`: anything may follow after a space or a colon. */
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

/** Programs that run what follows them, as separate words or as one. A deny or ask rule looks through them. */
const WRAPPERS = new Set([...WRAPPING_PROGRAMS, ...'find sh bash dash ash zsh ksh mksh fish'.split(' ')])

/** Does the rule match one of the commands? `unreadable`: we cannot tell. */
export function meetsCommand(rule: Rule, text: ShellText, source: string): 'yes' | 'no' | 'unreadable' {
  if (rule.pattern === undefined) return 'yes'
  const pattern = parseCommandPattern(squeeze(rule.pattern))
  if (matchesFrom(pattern, squeeze(source), (at) => at === 0)) return 'yes'
  if (!text.readable) return 'unreadable'
  return text.commands.some((command) => isMet(pattern, command)) ? 'yes' : 'no'
}

/**
 * Matches the command as written, and by the program's bare name, also in lower case, since some disks ignore case. After a wrapper, a
 * match may start at each word, also at the name within a program's path.
 */
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

/** Deny and ask rules ignore how the words are spaced. */
function squeeze(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** Private-use characters that stand in for spaces inside a word. */
const STAND_IN = 0xe000
const STAND_INS = /[\uE000-\uE0FF]/

/**
 * Allow rules ignore how much space is between words. Inside quotes or after a backslash a space is part of the word, and a plain space
 * in a pattern does not match it.
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
