import type { Access } from '../../paths/access.ts'
import type { CallFacts } from '../call-facts.ts'
import type { Rule } from '../rule.ts'
import { alwaysRulesFor } from './always-rules.ts'

/** What "always" would allow. */
export interface Offer {
  /** What and where, for a person: "Always allow `npm test` in /home/me/project, exactly as written". */
  readonly words: string
  /** What still asks, although the words might promise it. */
  readonly except?: string | undefined
  readonly rules: readonly Rule[]
}

/** A name may hold a line end, and what follows it would pass for another line of the question. */
const CONTROL = /\p{Cc}/u
/** What does not fit on a screen with its question is not allowed for good. */
const WORDS_CHARS_MAX = 500

/**
 * The fewest rules that allow the call: those that it does not need are left out. Undefined where none is narrow enough, or where none
 * would be heard because another rule asks first.
 */
export async function findOffer(
  facts: CallFacts,
  access: Access,
  allowsWith: (rules: readonly Rule[]) => Promise<boolean>,
): Promise<Offer | undefined> {
  const { rules, where, except } = await alwaysRulesFor(facts, access)
  let needed = rules
  const isEnough = async (some: typeof rules): Promise<boolean> =>
    some.length > 0 && (await allowsWith(some.map(({ rule }) => rule)))
  if (!(await isEnough(needed))) return undefined
  for (const one of rules) {
    const others = needed.filter((other) => other !== one)
    if (await isEnough(others)) needed = others
  }
  const words = `Always allow ${listed(needed.map(({ what }) => what))} ${where}`
  if (words.length > WORDS_CHARS_MAX || CONTROL.test(words)) return undefined
  return { words, except, rules: needed.map(({ rule }) => rule) }
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
