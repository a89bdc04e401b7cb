import type { ErrorFact } from './facts.ts'
import { familyOf } from './read-call.ts'

// When one call repeats another.

interface Called {
  readonly tool: string
  readonly target: string
}

/**
 * The same kind of tool on the same target. A successful command ends the failure of one that did the same or less, with further arguments
 * that narrow it. In doubt they are different.
 */
export function isLikeCall(
  error: Pick<ErrorFact, 'tool' | 'target'>,
  later: Called,
  failedToo: boolean,
): boolean {
  const family = familyOf(error.tool)
  if (family !== familyOf(later.tool)) return false
  if (family === 'other' && error.tool !== later.tool) return false
  if (family !== 'shell') return error.target === later.target
  const failed = commandWords(error.target)
  const ran = commandWords(later.target)
  if (ran.length === 0) return false
  const isSame = failed.length === ran.length && ran.every((word, i) => word === failed[i])
  return isSame || (!failedToo && ran.length < failed.length && isWithin(ran, failed))
}

/** A single word names a program and says too little. */
const WORDS_MIN = 2

function isWithin(fewer: readonly string[], more: readonly string[]): boolean {
  return fewer.length >= WORDS_MIN && fewer.every((word, i) => word === more[i])
}

/** What only shapes the output; a sign in quotes ends no command: `grep "FAIL|PASS"`. */
const PLUMBING =
  /(?<!\s)\s*(?:\d?>&\d|[12]?>\s*\/dev\/null|\|\|\s*(?:true|:)(?![\w./-])|;\s*(?:true|:|exit 0)(?![\w./-])|(?:;|\|\|)\s*echo\b(?:\s*(?:[^\s|;&"']|"(?:[^"\\]|\\[^])*"|'[^']*'))*|\|\s*(?:tail|head|cat|less|e?grep|rg|tee|sort|uniq|wc|sed|awk)\b(?:\s*(?:[^\s|;&"']|"(?:[^"\\]|\\[^])*"|'[^']*'))*)/g
const GOES_FIRST =
  /^\s*(?:cd\s+[^\s;&|][^;&|]*(?:&&|;)\s*|\w+=(?:"[^"]*"|'[^']*'|\S*)\s+|timeout\s+\S+\s+|(?:time|env|command|nice(?:\s+-n\s*\S+)?)\s+)+/

/** The command without the part that says where it runs. */
export function commandStart(command: string): string {
  return command.replace(GOES_FIRST, '')
}

/** The words of the command, without where it runs and without what only shapes its output. */
export function commandWords(command: string): readonly string[] {
  return commandStart(command)
    .replace(PLUMBING, '')
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '--')
}
