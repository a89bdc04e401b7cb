import type { Access } from '../../paths/access.ts'
import type { CallFacts } from '../call-facts.ts'
import type { Rule } from '../rule.ts'
import { alwaysRulesFor } from './always-rules.ts'

/** What "always" would allow. */
export interface Offer {
  /** What and where, for the user: "Always allow `npm test` in /home/me/project, exactly as written". */
  readonly words: string
  /** What still asks, although the words might suggest otherwise. Absent: nothing. */
  readonly except?: string | undefined
  readonly rules: readonly Rule[]
}

/** A name may contain a line end, and the text after it would look like another line of the question. */
const CONTROL = /\p{Cc}/u
/** Longer words do not fit on a screen with their question, so "always" does not offer them. */
const WORDS_CHARS_MAX = 500

/**
 * The fewest rules that allow the call. Undefined if none is narrow enough, or if they would have no effect because another rule asks
 * first.
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
