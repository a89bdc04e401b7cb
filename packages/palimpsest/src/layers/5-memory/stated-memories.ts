import type { Evidence } from './evidence.ts'
import type { Proposal } from './judge-proposal.ts'
import { PROPOSAL_CHARS_MAX } from './judge-proposal.ts'
import type { MemoryType } from './memory.ts'

// What the user asks to be remembered, in so many words. No model is needed to find it.

/** "Remember that …", "remember: …". "Remember to …" speaks of the work at hand. */
const ASKED =
  /^(?:please\s|ok(?:ay)?,?\s|also,?\s|and\s){0,3}(?:remember(?: for (?:later|next time|future (?:sessions|conversations)))?(?::|,? that\s)|keep in mind that\s|merk(?:e)? dir(?::|, dass\s)|retiens que\s|recuerda que\s)(.+)$/iu

/** Fewer say nothing by themselves. */
const CHARS_MIN = 8

/** One proposal for each sentence; they rest on the message that holds them. */
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

/** A line ends a sentence; so does a mark with white space after it. */
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
