import { coveredByAlways } from './always/covers-command.ts'
import type { CallFacts } from './call-facts.ts'
import type { ShellConcerns } from './decide.ts'
import { matchesCommand } from './match-command.ts'
import type { Rule } from './rule.ts'
import { findUnaskedWay, uncoveredConcern, type ReadingPolicy } from './unasked-way.ts'

/** What speaks against running a line unasked: as a whole, and after the commands that rules allow are taken out. */
export async function shellConcerns(
  { command, text, isOutside }: Extract<CallFacts, { kind: 'shell' }>,
  rules: readonly Rule[],
  policy: ReadingPolicy,
): Promise<ShellConcerns> {
  const refused = await requiredConcern(policy)
  if (refused !== undefined) return { all: refused, uncovered: refused, refused }
  const answer = await findUnaskedWay({ command, isOutside }, policy)
  if (answer.ok) return { all: undefined, uncovered: undefined, way: answer.way }
  const all = answer.why
  if (!text.readable) return { all, uncovered: all }
  const allowing = rules.filter(
    ({ effect, tool, always }) => effect === 'allow' && tool === 'Bash' && !always,
  )
  const isAlways = await coveredByAlways(command, rules, policy.access.shellFolder())
  const uncovered = text.commands.filter(
    (one) =>
      one.name === undefined || (!isAlways(one) && !allowing.some((rule) => matchesCommand(rule, one.text))),
  )
  if (uncovered.length === text.commands.length) return { all, uncovered: all }
  return { all, uncovered: await uncoveredConcern(text, uncovered, policy) }
}

/** The user wants no command without the sandbox, not even one that he allows. */
async function requiredConcern({ sandbox }: ReadingPolicy): Promise<string | undefined> {
  if (sandbox.policy !== 'required') return undefined
  const problem = await sandbox.problem()
  if (problem === undefined) return undefined
  const { why, cure } = problem
  return `the setting "sandbox" is "required", and there is no sandbox here: ${why}. To change that, ${cure}, or set it to "auto"`
}
