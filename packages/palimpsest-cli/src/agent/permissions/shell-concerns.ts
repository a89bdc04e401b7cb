import { judge } from '../command/reads-only.ts'
import { coveredByAlways } from './always/covers-command.ts'
import type { CallFacts } from './call-facts.ts'
import type { ShellConcerns } from './decide.ts'
import { findReadingConcern, type ReadingPolicy } from './find-reading-concern.ts'
import { matchesCommand } from './match-command.ts'
import type { Rule } from './rule.ts'

/** What speaks against running a line unasked: as a whole, and after the commands that rules allow are taken out. */
export async function shellConcerns(
  { command: source, text }: Extract<CallFacts, { kind: 'shell' }>,
  rules: readonly Rule[],
  policy: ReadingPolicy,
): Promise<ShellConcerns> {
  const all = await findReadingConcern(judge(text), policy)
  if (all === undefined || !text.readable) return { all, uncovered: all }
  const allowing = rules.filter(
    ({ effect, tool, always }) => effect === 'allow' && tool === 'Bash' && !always,
  )
  const isAlways = await coveredByAlways(source, rules, policy.access.shellFolder())
  const uncovered = text.commands.filter(
    (command) =>
      command.name === undefined ||
      (!isAlways(command) && !allowing.some((rule) => matchesCommand(rule, command.text))),
  )
  if (uncovered.length === text.commands.length) return { all, uncovered: all }
  const rest = { ...text, commands: uncovered, hasBackground: false }
  return { all, uncovered: await findReadingConcern(judge(rest), policy) }
}
