import type { Evidence } from './evidence.ts'
import type { Proposal } from './judge-proposal.ts'
import { PROPOSAL_CHARS_MAX } from './judge-proposal.ts'
import type { MemoryType } from './memory.ts'

// What the user explicitly asks to be remembered. No model is needed to find it.

/** "Remember that …", "remember: …". "Remember to …" is about the work at hand. */
const ASKED =
  /^(?:please\s|ok(?:ay)?,?\s|also,?\s|and\s){0,3}(?:remember(?: for (?:later|next time|future (?:sessions|conversations)))?(?::|,? that\s)|keep in mind that\s|merk(?:e)? dir(?::|, dass\s)|retiens que\s|recuerda que\s)(.+)$/iu

/** Fewer characters say nothing by themselves. */
const CHARS_MIN = 8

/** One proposal per sentence; each rests on the message that has it. */
export function statedMemories(evidence: readonly Evidence[]): readonly Proposal[] {
  return evidence
    .filter(({ origin }) => origin === 'user')
    .flatMap(({ id, text }) => sentencesOf(text).flatMap((sentence) => toProposal(sentence, id)))
}

function toProposal(sentence: string, message: string): readonly Proposal[] {
  const asked = ASKED.exec(sentence)?.[1]?.trim() ?? ''
  if (asked.length < CHARS_MIN) return []
  const description = asked.charAt(0).toUpperCase() + asked.slice(1)
  return [{ description, type: typeOf(description), body: '', messages: [message] }]
}

/** A line break ends a sentence; so does a mark followed by white space. */
function sentencesOf(text: string): readonly string[] {
  return text
    .slice(0, PROPOSAL_CHARS_MAX)
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim().replace(/[.!]$/, ''))
}

function typeOf(text: string): MemoryType {
  if (/^(?:I|I'm|I’m|my|me)\b/i.test(text)) return 'user'
  return /https?:\/\//.test(text) ? 'reference' : 'project'
}
