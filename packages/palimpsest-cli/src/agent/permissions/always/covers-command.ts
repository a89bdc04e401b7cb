import type { SimpleCommand } from '../../command/parse-shell.ts'
import { matchesWildcard, parseWildcard } from '../../patterns/wildcard.ts'
import { ownNatureOf } from '../../tools/tool-natures.ts'
import type { Rule } from '../rule.ts'
import { folderOfLine } from './always-rules.ts'
import { toPlainLine } from './plain-line.ts'

/**
 * Which commands of a line the rules from "always" cover: exactly the commands that the user saw, in the folder they were shown for, with
 * nothing fed to them. Takes a line that `parseShell` can read.
 */
export async function coveredByAlways(
  source: string,
  rules: readonly Rule[],
  shellFolder: string,
): Promise<(command: Pick<SimpleCommand, 'text'>) => boolean> {
  const given = rules.filter(
    ({ effect, tool, always }) => effect === 'allow' && ownNatureOf(tool) === 'run' && always,
  )
  const line = given.length > 0 ? toPlainLine(source) : undefined
  const folder = line && (await folderOfLine(line, shellFolder))
  if (line === undefined || folder === undefined) return () => false
  const fed = new Set(line.commands.filter(({ isFed }) => isFed).map(({ text }) => text))
  return ({ text }) =>
    !fed.has(text) &&
    given.some(
      ({ always, pattern }) => always?.folder === folder && pattern !== undefined && isExactly(pattern, text),
    )
}

function isExactly(pattern: string, text: string): boolean {
  const wildcard = parseWildcard(pattern)
  return wildcard.length === 1 && matchesWildcard(wildcard, text)
}
