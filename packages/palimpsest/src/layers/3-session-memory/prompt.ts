import { cutSections, NOTES_TOKENS_MAX, SECTION_TOKENS_MAX, sizesOf } from './cut-sections.ts'

/** How many times their limits the notes may be when they are shown, to be condensed. */
const SHOWN_TIMES = 1.5

export interface NotesPrompt {
  readonly template: string
  /** What the notes say now. */
  readonly notes: string
  readonly scale: number
  /** The user's own wording, in place of ours. `{{notes}}` is replaced by the current notes. */
  readonly custom?: string | undefined
}

/** The request for new notes, as the only message after the conversation. */
export function notesPrompt({ template, notes, scale, custom }: NotesPrompt): string {
  const whole = notes.trim() === '' ? template : notes
  // What is far over the limits would be cut anyway, and takes room from the conversation.
  const { isOver, long } = sizesOf(whole, scale * SHOWN_TIMES)
  const current =
    isOver || long.length > 0 ? cutSections(whole, scale * SHOWN_TIMES, 'the conversation') : whole
  const body = custom === undefined ? ownWords(current) : custom.replaceAll('{{notes}}', () => current)
  return [body, ...reminders(whole, scale)].join('\n\n')
}

function ownWords(current: string): string {
  return `This is not part of the conversation with the user. Do not call any tool; answer with text only.

Bring the notes of this session up to date. They are what a successor reads who sees nothing else of it.

Rules:
- Answer with the whole notes, from the first heading to the last, inside <notes> and </notes>, and with nothing else.
- Keep every heading and the italic line below it exactly as they are, in their order. Write under them.
- Be exact: paths, names of functions, commands, numbers and error messages as they were. Write down nothing that did not happen.
- "Current state" is always written anew. In the other sections change what is no longer true and add what is missing.
- Leave out what the project's files say anyway. Do not speak of these notes or of this request in them.

The notes as they are:

<notes>
${current}
</notes>

Do not call any tool. Answer with the notes only.`
}

function reminders(notes: string, scale: number): readonly string[] {
  const { long, isOver } = sizesOf(notes, scale)
  const section = Math.round(SECTION_TOKENS_MAX * scale)
  const whole = Math.round(NOTES_TOKENS_MAX * scale)
  return [
    ...(long.length === 0
      ? []
      : [`These sections are longer than ${section} tokens; condense them: ${long.join(', ')}.`]),
    ...(isOver
      ? [
          `The notes are longer than ${whole} tokens and what is over will be cut away. Condense them now: merge what repeats, drop what no longer matters, keep "Current state" and "Errors and corrections" exact.`,
        ]
      : []),
  ]
}

const OPEN = '<notes>'
const CLOSE = '</notes>'

/** The notes in an answer: what is inside the tags, or the whole text if it begins with a heading. */
export function readNotes(answer: string): string | undefined {
  const from = answer.indexOf(OPEN)
  const to = from === -1 ? -1 : answer.indexOf(CLOSE, from)
  const inside = (to === -1 ? answer : answer.slice(from + OPEN.length, to)).trim()
  return inside.startsWith('# ') ? inside : undefined
}
