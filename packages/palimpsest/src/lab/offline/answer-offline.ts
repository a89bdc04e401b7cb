import type { Json } from '../../wire/json.ts'
import type { TextBlock, WireMessage } from '../../wire/message.ts'
import { lastUserText, utterancesOf } from './conversation-text.ts'
import { fillSchema } from './fill-schema.ts'
import { pickSentences, type Quote } from './pick-sentences.ts'
import { requestedForm } from './extract/requested-form.ts'
import { sessionFacts } from './extract/session-facts.ts'
import { writeMemories } from './extract/write-memories.ts'
import { writeNotes } from './extract/write-notes.ts'
import { summarizeOffline } from './summarize-offline.ts'
import { turnSoFar } from './turn-so-far.ts'
import { visibleText } from './visible-text.ts'

// The embedded model: no network, no key, no randomness. It answers only from the conversation, by quoting.

const QUOTES_MAX = 3
/** How far back it looks for an answer. */
const READ_CHARS_MAX = 200_000

const WHAT_IT_IS =
  'I am the offline extractive model: I do not reason or write, I quote what this conversation already says.'

export interface OfflineRequest {
  readonly messages: readonly WireMessage[]
  /** The schema of a JSON answer; absent if text is wanted. */
  readonly schema?: Json | undefined
  /** Added to the answer if nothing can be quoted. */
  readonly hint?: string
}

/** The model's answer without tools. */
export interface OfflineReply {
  readonly content: readonly TextBlock[]
}

export function answerOffline(request: OfflineRequest): OfflineReply {
  const { messages, schema, hint } = request
  const asked = lastUserText(messages)
  const text =
    schema === undefined
      ? (writeForm(messages) ?? quoteAnswer(messages, asked, hint))
      : JSON.stringify(fillSchema(schema, asked))
  return { content: [{ type: 'text', text }] }
}

/** The text that the user asked for, if extraction can write it. */
export function writeForm(messages: readonly WireMessage[]): string | undefined {
  const { asked, at, before } = turnSoFar(messages)
  const form = at === messages.length - 1 ? requestedForm(asked) : undefined
  switch (form) {
    case 'summary':
      return `<summary>\n${summarizeOffline(before, charsAllowed(asked))}\n</summary>`
    case 'notes':
      return writeNotes(asked, sessionFacts(before))
    case 'memories':
      return writeMemories(sessionFacts(before))
    case undefined:
      return undefined
    default:
      return form satisfies never
  }
}

const ALLOWED = /\bat most ([\d,.]+) characters\b/i

/** The length limit that the request gives; Infinity if it gives none. */
function charsAllowed(asked: string): number {
  const [, digits] = ALLOWED.exec(asked) ?? []
  return digits === undefined ? Infinity : Number(digits.replace(/\D/g, ''))
}

function quoteAnswer(messages: readonly WireMessage[], question: string, hint = ''): string {
  const said = utterancesOf(messages.slice(0, -1), READ_CHARS_MAX)
  const quotes = pickSentences(said, question, QUOTES_MAX)
  if (quotes.length === 0)
    return `${WHAT_IT_IS} Nothing said so far is related to your last message. ${hint}`.trim()
  return `${WHAT_IT_IS} Nearest to your last message:\n\n${quotes.map(render).join('\n')}`
}

function render({ text, from }: Quote): string {
  const who = from.kind === 'text' ? from.role : from.kind.replace('_', ' ')
  return `> ${visibleText(text)} (${who}, message ${from.message + 1})`
}
