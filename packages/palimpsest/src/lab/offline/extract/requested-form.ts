// Which kind of text a message asks for. Prompts differ in wording, but all share a few words.

export type RequestedForm = 'summary' | 'notes' | 'memories'

const NOTE_SECTIONS = [
  /session title/i,
  /current state/i,
  /task spec/i,
  /files and functions/i,
  /\bworkflow\b/i,
  /errors (?:and|&) corrections/i,
  /codebase/i,
  /\blearnings\b/i,
  /key results/i,
  /\bworklog\b/i,
]
const NOTE_SECTIONS_MIN = 5
const MEMORY_TYPES = [/\buser\b/i, /\bfeedback\b/i, /\bproject\b/i, /\breference\b/i]

/** "Where is the summary of a conversation read?" asks about summaries; "Could you summarize this session?" asks for one. */
const ASKS_ABOUT =
  /^(?:in |at |to |from |under |for |by )?(?:where|what|which|why|when|how|who|is|are|does|do)\b[^]*\?$/i

export function requestedForm(text: string): RequestedForm | undefined {
  if (NOTE_SECTIONS.filter((section) => section.test(text)).length >= NOTE_SECTIONS_MIN) return 'notes'
  if (/<summary>/i.test(text)) return 'summary'
  if (/\bmemor(?:y|ies)\b/i.test(text) && MEMORY_TYPES.every((type) => type.test(text))) return 'memories'
  const isSummary =
    !ASKS_ABOUT.test(text.trim()) &&
    /\bsummar(?:y|i[sz]e|ies)\b/i.test(text) &&
    /\b(?:conversation|session|so far|above|history|messages)\b/i.test(text)
  return isSummary ? 'summary' : undefined
}
