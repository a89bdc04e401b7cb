import { parsePathPattern } from '../patterns/path-pattern.ts'
import { ownNatureOf } from '../tools/tool-natures.ts'

// Rules as users write them: `Tool` or `Tool(pattern)`. `Read(./secrets/**)`, `Edit(src/**)`, `Bash(npm run test:*)`,
// `WebFetch(domain:example.com)`.

export type RuleEffect = 'allow' | 'ask' | 'deny'

export interface Rule {
  readonly effect: RuleEffect
  readonly tool: string
  /** Absent: every call of the tool. */
  readonly pattern?: string | undefined
  /** As written. */
  readonly text: string
  /** Given by "always", and exactly as narrow as shown: a command rule holds only in this folder, and only for that exact command. */
  readonly always?: { readonly folder: string }
}

export type ParsedRule =
  | { readonly ok: true; readonly rule: Rule }
  | { readonly ok: false; readonly message: string }

const FORM = /^([A-Za-z_][\w-]*\*?)(?:\((.*)\))?$/s

export function parseRule(text: string, effect: RuleEffect): ParsedRule {
  const [, tool, pattern] = FORM.exec(text.trim()) ?? []
  if (tool === undefined)
    return {
      ok: false,
      message: `"${text}" is no rule. Write Tool or Tool(pattern), for example Bash(npm test:*)`,
    }
  if (pattern === undefined || pattern === '*' || pattern === '**')
    return { ok: true, rule: { effect, tool, text } }
  const problem = patternProblem(tool, pattern)
  return problem === undefined
    ? { ok: true, rule: { effect, tool, pattern, text } }
    : { ok: false, message: `"${text}": ${problem}` }
}

function patternProblem(tool: string, pattern: string): string | undefined {
  if (pattern.trim() === '') return 'the pattern is empty. Leave the parentheses out to mean every call'
  if (/[\n\0]/.test(pattern)) return 'a pattern is one line'
  const nature = ownNatureOf(tool)
  if (nature === 'run') return undefined
  if (nature === 'fetch')
    return /^domain:[\w.*:-]+$/.test(pattern) ? undefined : 'write WebFetch(domain:example.com)'
  if (nature === undefined || nature === 'inner') return `${tool} takes no pattern. Write ${tool} alone`
  if (pattern.startsWith('!')) return 'a pattern cannot begin with "!". Use a rule of another kind instead'
  return parsePathPattern(pattern, false) === undefined
    ? 'the pattern matches nothing: a "[" is never closed, or it ends in "\\". Write \\[ for a bracket'
    : undefined
}

/**
 * `--allowed-tools "Bash(git log:*),Read Edit"`: commas or spaces outside parentheses separate rules. A parenthesis after a backslash is
 * just a character.
 */
export function splitRuleList(text: string): readonly string[] {
  const rules: string[] = []
  let depth = 0
  let current = ''
  for (const [part] of text.matchAll(/\\[^]|[^]/g)) {
    if (part === '(') depth++
    if (part === ')') depth = Math.max(0, depth - 1)
    if (depth === 0 && /^[,\s]$/.test(part)) {
      rules.push(current)
      current = ''
    } else current += part
  }
  return [...rules, current].filter((rule) => rule !== '')
}

/** Hosts that hand-written rules allow by name: these may be private. A public name may lead to a private address tomorrow. */
export function privateHostsOf(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap(({ effect, tool, pattern, always }) =>
    effect === 'allow' && ownNatureOf(tool) === 'fetch' && pattern !== undefined && !always
      ? [pattern.slice('domain:'.length).toLowerCase()]
      : [],
  )
}

/** A rule forbids this host, or asks about it first. */
export function forbidsHost(rules: readonly Rule[], { host, hostname }: URL): boolean {
  return rules.some(
    (rule) =>
      rule.effect !== 'allow' &&
      ownNatureOf(rule.tool) === 'fetch' &&
      (matchesDomain(rule, host) || matchesDomain(rule, hostname)),
  )
}

export function matchesDomain({ pattern }: Rule, host: string): boolean {
  if (pattern === undefined) return true
  const domain = pattern
    .slice('domain:'.length)
    .toLowerCase()
    .replace(/(?<!\.)\.+$/, '')
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain
}
