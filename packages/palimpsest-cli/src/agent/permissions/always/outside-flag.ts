import type { Access } from '../../paths/access.ts'
import { escapeWildcard } from '../../patterns/wildcard.ts'
import type { CallFacts } from '../call-facts.ts'
import { parseRule, type Rule } from '../rule.ts'
import { pathPattern } from './always-rules.ts'
import { findOffer } from './offer.ts'

/**
 * For runs in which no user can answer: a sentence that names the flag that allows the call and as little else as possible. If no narrow
 * rules cover a command line, the flag allows the exact line.
 */
export async function outsideFlag(
  tool: string,
  facts: CallFacts,
  access: Access,
  allowsWith: (rules: readonly Rule[]) => Promise<boolean>,
): Promise<string> {
  const offer = await findOffer(facts, access, (rules) => allowsWith(rules.map(byHand)))
  if (offer) {
    const flag = toFlag(offer.rules)
    const isPlainEdit = facts.kind === 'file' && facts.access === 'write' && facts.isInside
    return isPlainEdit ? `--permission-mode accept-edits, or ${flag}, allows it.` : `${flag} allows it.`
  }
  const parsed = parseRule(exactRule(tool, facts), 'allow')
  if (!parsed.ok || !(await allowsWith([parsed.rule]))) return 'No flag allows just this call.'
  const flag = toFlag([parsed.rule])
  return facts.kind === 'shell'
    ? `Only this exact command can be allowed, with ${flag}.`
    : `${flag} allows it.`
}

/** The rule as the user would write it: it holds in every folder. */
function byHand({ effect, tool, pattern, text }: Rule): Rule {
  return { effect, tool, text, pattern }
}

/** Empty if every rule would allow much more. */
function exactRule(tool: string, facts: CallFacts): string {
  switch (facts.kind) {
    case 'shell':
      return `Bash(${escapeWildcard(facts.command.trim())})`
    case 'file':
      return facts.access === 'write' ? `Edit(${pathPattern(facts.real)})` : ''
    case 'web':
      return `WebFetch(domain:${facts.host})`
    case 'inner':
    case 'other':
      return tool
    default:
      facts satisfies never
      return ''
  }
}

function toFlag(rules: readonly Rule[]): string {
  const list = rules.map(({ text }) => text).join(',')
  return `--allowed-tools '${list.replaceAll("'", String.raw`'\''`)}'`
}
