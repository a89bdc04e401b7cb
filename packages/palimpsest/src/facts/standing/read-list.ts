import type { StandingKind } from './language.ts'
import type { Prose } from './prose-of.ts'
import type { SentenceReading } from './read-sentence.ts'

// The points of a list are what the line above them says: under "Rules:" a plain command is a rule.

/** "Do not:", "Never do any of these:". */
const FORBIDS =
  /^(?:please )?(?:do not|don['’]?t|never|avoid|you must not|must not|forbidden|off limits|not allowed)(?: do| touch| change| edit| use)?(?: the following| these| any of these)?\s*[:：]?$/i
/** "Rules (non-negotiable)", "Coding conventions:". */
const RULES =
  /^(?:[\p{L}-]+ ){0,4}(?:rules|guidelines|constraints|conventions|guardrails|restrictions|regeln|règles|reglas|regras|regole)(?: \([^)]*\))?\s*[:：]?$/iu
/** Steps that are to be repeated. */
const REPEATS =
  /\b(?:loop|repeat|each (?:iteration|round|cycle)|every (?:iteration|round|cycle))\b[^.]{0,60}[:：]$/i
const QUESTION = /[?？]$/

export function readUnder({ text, under }: Prose, reading: SentenceReading): SentenceReading {
  if (reading.kind !== undefined || reading.permissions.length > 0 || QUESTION.test(text)) return reading
  const kind = under === undefined ? ownLead(text) : kindUnder(under, reading)
  return kind ? { kind, rules: [text.toLowerCase()], permissions: [], commands: [] } : reading
}

/** The line that announces the steps is one of the rules. */
function ownLead(text: string): StandingKind | undefined {
  return REPEATS.test(text) ? 'obligation' : undefined
}

function kindUnder(lead: string, { commands }: SentenceReading): StandingKind | undefined {
  if (FORBIDS.test(lead)) return 'prohibition'
  if (REPEATS.test(lead)) return 'obligation'
  return RULES.test(lead) && commands.length > 0 ? 'constraint' : undefined
}
