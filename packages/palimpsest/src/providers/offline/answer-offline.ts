import type { Json } from '../../wire/json.ts'
import type { TextBlock, WireMessage } from '../../wire/message.ts'
import { lastUserText, utterancesOf } from './conversation-text.ts'
import { fillSchema } from './fill-schema.ts'
import { pickSentences, type Quote } from './pick-sentences.ts'
import { summarizeOffline } from './summarize-offline.ts'

// The embedded model: no network, no key, no randomness. It answers from the conversation alone, by quoting.

const QUOTES_MAX = 3
/** How far back it reads for an answer. */
const READ_CHARS_MAX = 200_000

const WHAT_IT_IS =
  'I am the offline extractive model: I do not reason or write, I quote what this conversation already says.'

export interface OfflineRequest {
  readonly messages: readonly WireMessage[]
  /** Where the answer must be JSON of this form. */
  readonly schema?: Json
}

/** What the model answers with; further kinds of blocks come with tool use. */
export interface OfflineReply {
  readonly content: readonly TextBlock[]
}

export function answerOffline(request: OfflineRequest): OfflineReply {
  const question = lastUserText(request.messages)
  if (request.schema !== undefined)
    return { content: [{ type: 'text', text: JSON.stringify(fillSchema(request.schema, question)) }] }
  const text = asksForSummary(question)
    ? `<summary>\n${summarizeOffline(request.messages.slice(0, -1))}\n</summary>`
    : quoteAnswer(request.messages, question)
  return { content: [{ type: 'text', text }] }
}

/** A request to sum up the conversation, as people and compaction prompts word it. */
export function asksForSummary(text: string): boolean {
  if (/<summary>/i.test(text)) return true
  return (
    /\bsummar(?:y|i[sz]e|ies)\b/i.test(text) &&
    /\b(?:conversation|session|so far|above|history|messages)\b/i.test(text)
  )
}

function quoteAnswer(messages: readonly WireMessage[], question: string): string {
  const said = utterancesOf(messages.slice(0, -1), READ_CHARS_MAX)
  const quotes = pickSentences(said, question, QUOTES_MAX)
  if (quotes.length === 0) return `${WHAT_IT_IS} Nothing said so far is related to your last message.`
  return `${WHAT_IT_IS} Nearest to your last message:\n\n${quotes.map(render).join('\n')}`
}

function render({ text, from }: Quote): string {
  const who = from.kind === 'text' ? from.role : from.kind.replace('_', ' ')
  return `> ${text} (${who}, message ${from.message + 1})`
}
