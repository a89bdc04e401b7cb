import type { MessagesRequest } from '../../wire/request.ts'
import { answerOffline, writeForm } from './answer-offline.ts'
import { asksForWork } from './asks-for-work.ts'
import type { ReplyBlock } from './reply-events.ts'
import { composeAnswer } from './search/compose-answer.ts'
import { gatherEvidence } from './search/gather-evidence.ts'
import { offeredTools, type OfferedTools } from './search/offered-tools.ts'
import { planSearch } from './search/plan-search.ts'
import { readQuestion } from './search/read-question.ts'
import { turnSoFar, type TurnSoFar } from './turn-so-far.ts'

// What the model does with a request: fills a form, writes a summary, searches the folder, or quotes the conversation.

const WHAT_IT_IS =
  '(Found by the offline extractive model: it searches and quotes. It does not reason, change files or run commands. For a real model set ANTHROPIC_API_KEY, or --base-url and --model.)'

/** Said at once: a search brings nothing to a user who wants something done. */
const CANNOT =
  'I cannot do that: I am the offline model, which searches and quotes the files of this folder, and neither changes files nor runs commands. For a model that does, set ANTHROPIC_API_KEY, or --base-url and --model for another provider. From me you can learn where something is: "Where is the retry delay computed?"'

const HOW_TO_ASK =
  'Ask in English about the files of this folder, with words that they use: "Where is the retry delay computed?" For a real model set ANTHROPIC_API_KEY, or --base-url and --model.'

export function chooseReply(request: MessagesRequest): readonly ReplyBlock[] {
  const { messages } = request
  const format = request.output_config?.format ?? request.output_format
  if (format) return textsOf(answerOffline({ messages, schema: format.schema }).content)
  const written = writeForm(messages)
  if (written !== undefined) return [{ type: 'text', text: written }]
  const turn = turnSoFar(messages)
  if (turn.rounds === 0 && asksForWork(turn.asked)) return [{ type: 'text', text: CANNOT }]
  const tools = offeredTools(request)
  if (tools.grep === undefined) return textsOf(answerOffline({ messages }).content)
  const found = isAboutConversation(turn.asked) ? undefined : search(turn, tools)
  return found ?? textsOf(answerOffline({ messages, hint: HOW_TO_ASK }).content)
}

/** Undefined if the folder has nothing to say. */
function search(turn: TurnSoFar, tools: OfferedTools): readonly ReplyBlock[] | undefined {
  const question = readQuestion(turn.asked)
  if (question.concepts.every(({ wordClass }) => wordClass === 'frame')) return undefined
  const evidence = gatherEvidence(question, tools, turn.results)
  const calls = planSearch({ question, tools, evidence, rounds: turn.rounds })
  if (calls.length > 0) return calls.map((call) => ({ type: 'tool_use', ...call }))
  const answer = composeAnswer(question, evidence)
  if (answer !== undefined) return [{ type: 'text', text: `${answer}\n\n${WHAT_IT_IS}` }]
  const words = question.concepts.map(({ text }) => text).join(', ')
  return [{ type: 'text', text: `Nothing in this folder matches. Searched for: ${words}.\n\n${WHAT_IT_IS}` }]
}

const ABOUT_CONVERSATION =
  /\b(?:did|have) (?:i|we|you)\b|\b(?:you|we|i) (?:said|told|mentioned|asked|decided|agreed)\b|\bso far\b|\bthis (?:conversation|session)\b|\b(?:my|your) (?:last|previous|first) (?:message|answer|question)\b|^\W*(?:hi|hello|hey|thanks|thank you|ok|okay|bye)\b/i

function isAboutConversation(asked: string): boolean {
  return ABOUT_CONVERSATION.test(asked)
}

function textsOf(blocks: readonly { readonly type: 'text'; readonly text: string }[]): readonly ReplyBlock[] {
  return blocks.map(({ text }) => ({ type: 'text', text }))
}
