import type { StandingKind } from './language.ts'
import type { Prose } from './prose-of.ts'
import type { SentenceReading } from './read-sentence.ts'

// The meaning of a list's items depends on the line above them: under "Rules:", a plain command is a rule.

/** "Do not:", "Never do any of these:". */
const FORBIDS =
  /^(?:please )?(?:do not|don['’]?t|never|avoid|you must not|must not|forbidden|prohibited|off limits|not allowed|what not to do|what you must not do|don['’]?ts)(?: do| touch| change| edit| use)?(?: the following| these| any of these)?\s*[:：]?$/i
/** "Rules (non-negotiable)", "Coding conventions:". */
const RULES =
  /^(?:[\p{L}-]+ ){0,4}(?:rules|guidelines|constraints|conventions|guardrails|restrictions|regeln|règles|reglas|regras|regole)(?: \([^)]*\)| (?:to|for|you|that|of) [^:]{1,40})?\s*[:：]?$/iu
/** Among rules: what must not exist. */
const NO_THING = /^\P{L}*(?:no|keine?|aucune?|ning[uú]n\p{L}*|nenhuma?|nessun\p{L}*)\s\p{L}/iu
/** Steps to be repeated. */
const REPEATS =
  /\b(?:loop|repeat|each (?:iteration|round|cycle)|every (?:iteration|round|cycle))\b[^.]{0,60}[:：]$/i
const QUESTION = /[?？]$/

export function readUnder({ text, under }: Prose, reading: SentenceReading): SentenceReading {
  if (reading.kind !== undefined || reading.permissions.length > 0 || QUESTION.test(text)) return reading
  const kind = under === undefined ? ownLead(text) : kindUnder(under, text, reading)
  return kind ? { kind, rules: [text.toLowerCase()], permissions: [], commands: [] } : reading
}

/** The line that announces the steps is itself a rule. */
function ownLead(text: string): StandingKind | undefined {
  return REPEATS.test(text) ? 'obligation' : undefined
}

function kindUnder(lead: string, text: string, { commands }: SentenceReading): StandingKind | undefined {
  if (FORBIDS.test(lead)) return 'prohibition'
  if (REPEATS.test(lead)) return 'obligation'
  if (!RULES.test(lead)) return undefined
  if (NO_THING.test(text)) return 'prohibition'
  return commands.length > 0 ? 'constraint' : undefined
}
