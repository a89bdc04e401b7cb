import { findScreenProgram } from '../command/needs-terminal.ts'
import type { OpenWay } from '../paths/command-grant.ts'
import { ownNatureOf } from '../tools/tool-natures.ts'
import { coveredByAlways } from './always/covers-command.ts'
import type { CallFacts } from './call-facts.ts'
import { changedMeaning, type FirstShell } from './changed-meaning.ts'
import type { ShellConcerns } from './decide.ts'
import { isWholeLine, matchesCommand } from './match-command.ts'
import type { Rule } from './rule.ts'
import { isRequired } from '../sandbox/sandbox.ts'
import { findUnaskedWay, findWritingWay, type ReadingPolicy } from './unasked-way.ts'
import { writeUncovered } from './write-uncovered.ts'

type ShellFacts = Extract<CallFacts, { kind: 'shell' }>

/** Whether rules allow a line, and how it may run if they do not. */
export async function shellConcerns(
  facts: ShellFacts,
  rules: readonly Rule[],
  policy: ReadingPolicy & Pick<FirstShell, 'firstPath'>,
): Promise<ShellConcerns> {
  // A command that cannot run needs no question.
  const refused = findScreenProgram(facts.command) ?? (await requiredConcern(policy))
  if (refused !== undefined) return { kind: 'refused', why: refused }
  const changed =
    (await policy.sandbox.writing?.concern()) ??
    (await changedMeaning(facts.text, { ...policy, state: policy.access.shellState() }))
  if (changed !== undefined) {
    // A rule that allows every command allows this one, whatever its name means by now and whatever else it runs.
    const byRule = rules.some(allowsAll) ? ({ kind: 'open' } as const) : undefined
    return { kind: 'judged', byRule, unasked: { ok: false, why: changed } }
  }
  const unasked = await findUnaskedWay(facts, policy)
  const byRule = await wayByRules(facts, rules, policy)
  // Only commands that write leave something in `/tmp` for the next one to read.
  const isSettled = byRule !== undefined || (unasked.ok && !/\/tmp\b|\bTMPDIR\b/.test(facts.command))
  return {
    kind: 'judged',
    byRule,
    unasked,
    writing: isSettled ? undefined : await findWritingWay(facts, policy),
  }
}

function allowsAll({ effect, tool, pattern }: Rule): boolean {
  return effect === 'allow' && pattern === undefined && ownNatureOf(tool) === 'run'
}

/** Rules allow the whole line or each of its commands. The rest must be proven to only read, since it runs outside the sandbox too. */
async function wayByRules(
  { command, text }: ShellFacts,
  rules: readonly Rule[],
  policy: ReadingPolicy,
): Promise<OpenWay | undefined> {
  const allowing = rules.filter(({ effect, tool }) => effect === 'allow' && ownNatureOf(tool) === 'run')
  if (allowing.some((rule) => isWholeLine(rule, command))) return { kind: 'open' }
  if (allowing.length === 0 || !text.readable) return undefined
  const written = allowing.filter(({ always }) => !always)
  const isAlways = await coveredByAlways(command, rules, policy.access.shellFolder())
  const uncovered = text.commands.filter(
    (one) =>
      one.name === undefined || (!isAlways(one) && !written.some((rule) => matchesCommand(rule, one.text))),
  )
  if (uncovered.length === text.commands.length) return undefined
  const rest = await writeUncovered({ source: command, text, uncovered }, policy)
  return rest === undefined ? undefined : { kind: 'open', command: rest }
}

/** Why no command may run: the user requires the sandbox, even for commands that rules allow, and it does not work here. */
async function requiredConcern({ sandbox }: ReadingPolicy): Promise<string | undefined> {
  if (!isRequired(sandbox.policy)) return undefined
  const problem = await sandbox.problem()
  if (problem === undefined) return undefined
  const { why, cure } = problem
  return `the setting "sandbox" is "required", and there is no sandbox here: ${why}. To change that, ${cure}, or set it to "auto"`
}
