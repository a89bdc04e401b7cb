import type { CallFacts, FileFacts } from './call-facts.ts'
import type { CommandWay, OpenWay, UnaskedAnswer } from '../paths/command-grant.ts'
import { meetsCommand } from './match-command.ts'
import { exampleOf, matchesPath, type PatternBase } from './match-path.ts'
import type { PermissionMode } from './permission-mode.ts'
import { ownNatureOf } from '../tools/tool-natures.ts'
import { matchesDomain, type Rule } from './rule.ts'

// The order of precedence: deny rules, ask rules, allow rules, the mode. Pure: everything about the disk is in the facts.

export interface Policy extends PatternBase {
  readonly mode: PermissionMode
  readonly rules: readonly Rule[]
}

export type Decision =
  /** `way`: how a command runs, instead of as written. */
  | { readonly kind: 'allow'; readonly way?: CommandWay }
  | { readonly kind: 'ask'; readonly why: string }
  | { readonly kind: 'deny'; readonly why: string }

/** What only the disk can tell about a command. */
export type ShellConcerns =
  /** No command may run at all. */
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'judged'
      /** How it runs if rules allow it. Undefined: they do not. */
      readonly byRule: OpenWay | undefined
      /** How it may run if no rule allows it, or why the user must be asked. */
      readonly unasked: UnaskedAnswer
      /** The same for a run that may write in the working folders. Absent: nothing writes unasked. */
      readonly writing?: UnaskedAnswer | undefined
    }

const ALLOW: Decision = { kind: 'allow' }

export function decide(tool: string, facts: CallFacts, policy: Policy, concerns: ShellConcerns): Decision {
  for (const effect of ['deny', 'ask'] as const) {
    for (const rule of policy.rules.filter((candidate) => candidate.effect === effect)) {
      const meets = meetsRule(rule, tool, facts, policy)
      if (meets === 'yes')
        return {
          kind: effect,
          why: `the rule ${rule.text} ${effect === 'deny' ? 'forbids it' : 'asks first'}`,
        }
      if (meets === 'unreadable')
        return {
          kind: effect,
          why: `the command cannot be read well enough to check it against the rule ${rule.text}: write it with plain command names`,
        }
    }
  }
  switch (facts.kind) {
    case 'file':
      return facts.access === 'read' ? decideRead(tool, facts, policy) : decideWrite(tool, facts, policy)
    case 'shell':
      return decideShell(policy, concerns)
    case 'web':
    case 'other':
      return decideOther(tool, facts, policy)
    case 'inner':
      return ALLOW
    default:
      facts satisfies never
      return { kind: 'deny', why: 'this kind of call is not known' }
  }
}

function decideRead(tool: string, facts: FileFacts, policy: Policy): Decision {
  if (facts.isInside || policy.mode === 'bypass' || isAllowed(tool, facts, policy)) return ALLOW
  return { kind: 'ask', why: `${facts.real} is outside the working folder` }
}

function decideWrite(tool: string, facts: FileFacts, policy: Policy): Decision {
  if (facts.isPlan) return ALLOW
  if (policy.mode === 'plan') return planned('changing files')
  if (policy.mode === 'bypass' || facts.isJudged) return ALLOW
  if (isAllowed(tool, facts, policy, (rule) => speaksOfPlace(rule, facts, policy))) return ALLOW
  if (!facts.isInside) return { kind: 'ask', why: `${facts.real} is outside the working folder` }
  if (facts.isProtected) return { kind: 'ask', why: `${facts.real} decides what other programs do` }
  return policy.mode === 'accept-edits' ? ALLOW : { kind: 'ask', why: 'it changes a file' }
}

/** A rule without a pattern means the working folders. A protected file must be named: a wildcard that happens to match is not enough. */
function speaksOfPlace(rule: Rule, facts: FileFacts, policy: Policy): boolean {
  if (!facts.isProtected) return facts.isInside || rule.pattern !== undefined
  const example = exampleOf(rule, policy)
  const isThisFile = example === facts.real && !/[*?[]/.test(rule.pattern ?? '')
  return example !== undefined && (isThisFile || facts.protects(example))
}

function decideShell({ mode }: Policy, concerns: ShellConcerns): Decision {
  if (concerns.kind === 'refused') return { kind: 'deny', why: concerns.why }
  const { byRule, unasked, writing } = concerns
  if (mode === 'bypass') return ALLOW
  // The user allowed the command with everything it does; the sandbox is for what no rule allows. In plan mode no rule counts.
  if (byRule !== undefined && mode !== 'plan') return { kind: 'allow', way: byRule }
  if (writing?.ok === true && mode !== 'plan') return { kind: 'allow', way: writing.way }
  if (unasked.ok) return { kind: 'allow', way: unasked.way }
  if (mode === 'plan') return planned('commands that may do more than read')
  return { kind: 'ask', why: writing?.ok === false ? writing.why : unasked.why }
}

function decideOther(tool: string, facts: CallFacts, policy: Policy): Decision {
  if (policy.mode === 'bypass' || isAllowed(tool, facts, policy)) return ALLOW
  if (facts.kind === 'web') return { kind: 'ask', why: `it fetches a page from ${facts.host}` }
  if (policy.mode === 'plan') {
    return facts.kind === 'other' && facts.readsOnly ? ALLOW : planned(tool)
  }
  return { kind: 'ask', why: 'no rule allows it' }
}

function planned(what: string): Decision {
  return {
    kind: 'deny',
    why: `in plan mode there is no place for ${what}: read, think, and write the plan, which goes to the user by ExitPlanMode`,
  }
}

function isAllowed(
  tool: string,
  facts: CallFacts,
  policy: Policy,
  counts: (rule: Rule) => boolean = () => true,
): boolean {
  return policy.rules.some(
    (rule) => rule.effect === 'allow' && counts(rule) && meetsRule(rule, tool, facts, policy) === 'yes',
  )
}

function meetsRule(rule: Rule, tool: string, facts: CallFacts, policy: Policy): 'yes' | 'no' | 'unreadable' {
  if (!speaksOf(rule.tool, tool)) return 'no'
  switch (facts.kind) {
    case 'file': {
      // A rule that denies or asks matches a file under any of its names; a rule that allows must match the real path.
      const paths = rule.effect === 'allow' ? [facts.real] : facts.names
      return paths.some((path) => matchesPath(rule, path, policy)) ? 'yes' : 'no'
    }
    case 'shell':
      // Allow rules match each command of the line separately, and not here.
      if (rule.effect === 'allow') return 'no'
      return meetsCommand(rule, facts.text, facts.command)
    case 'web':
      return matchesDomain(rule, facts.host) || matchesDomain(rule, facts.hostname) ? 'yes' : 'no'
    case 'inner':
    case 'other':
      return rule.pattern === undefined ? 'yes' : 'no'
    default:
      facts satisfies never
      return 'no'
  }
}

/** Rules about reading also apply to searches, rules about editing to every tool that writes, `mcp__server` to all tools of the server. */
function speaksOf(ruleTool: string, tool: string): boolean {
  if (ruleTool === tool) return true
  const nature = ownNatureOf(ruleTool)
  if (nature === 'read') return ownNatureOf(tool) === 'search'
  if (nature === 'write') return ownNatureOf(tool) === 'write'
  if (ruleTool.endsWith('*')) return tool.startsWith(ruleTool.slice(0, -1))
  return ruleTool.startsWith('mcp__') && tool.startsWith(`${ruleTool}__`)
}
