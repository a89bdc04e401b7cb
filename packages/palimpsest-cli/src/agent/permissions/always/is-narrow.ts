import { parseShell } from '../../command/parse-shell.ts'
import { parsePathPattern } from '../../patterns/path-pattern.ts'
import { parseWildcard } from '../../patterns/wildcard.ts'
import type { Rule } from '../rule.ts'
import { whyNotNarrow } from './narrow-command.ts'
import { toPlainLine } from './plain-line.ts'

/**
 * Whether "always" could have given this rule: exactly one command, one file or folder by its name, or one host. Earlier versions gave
 * broader rules: a bare tool, every use of an interpreter.
 */
export function isNarrow({ tool, pattern }: Rule): boolean {
  if (pattern === undefined) return false
  // "Always" writes rules with one tool name for each nature.
  switch (tool) {
    case 'Bash':
      return isOneCommand(pattern)
    case 'Edit':
      return pattern === './**' || isOnePlace(pattern.replace(/\/\*\*$/, ''))
    case 'Read':
      return isOnePlace(pattern)
    case 'WebFetch':
      return !pattern.includes('*')
    default:
      return false
  }
}

function isOneCommand(pattern: string): boolean {
  const [text = '', ...more] = parseWildcard(pattern)
  if (more.length > 0 || !parseShell(text).readable) return false
  const line = toPlainLine(text)
  const [command, ...others] = line?.commands ?? []
  if (command === undefined || others.length > 0 || line?.movesTo !== undefined) return false
  return command.text === text && whyNotNarrow(command) === undefined
}

/** An absolute path without wildcards. */
function isOnePlace(pattern: string): boolean {
  const parsed = pattern.startsWith('//') ? parsePathPattern(pattern.slice(1), false) : undefined
  return (
    parsed?.segments.every(
      (segment) =>
        segment !== 'deep' && segment.length > 0 && segment.every(({ kind }) => kind === 'character'),
    ) ?? false
  )
}
