import type { WireMessage } from '../../wire/message.ts'
import { utterancesOf, type Utterance } from './conversation-text.ts'
import { splitSentences } from './pick-sentences.ts'

/** How far back a summary reads, and how much of each kind it keeps. */
const READ_CHARS_MAX = 2_000_000
const USER_TEXTS_MAX = 40
const USER_TEXT_CHARS_MAX = 1_000
const PATHS_MAX = 40
const ERRORS_MAX = 10
const COMMANDS_MAX = 20
const LAST_ANSWER_CHARS_MAX = 1_500

/** Words of a text that could be paths are looked at one by one: a pattern over the whole text takes quadratic time on long words. */
const WORD_BREAK = /[\s"'`()<>,;:{}[\]|=]+/
const PATH = /^[\w.@/-]*\/[\w.@-]*\.\w{1,8}$/
const PATH_CHARS_MAX = 200
const ERROR_LINE = /\b(?:error|failed|failure|exception|cannot|not found)\b/i

/** A summary by extraction: nothing in it was not said in the conversation. */
export function summarizeOffline(messages: readonly WireMessage[]): string {
  const said = utterancesOf(messages, READ_CHARS_MAX)
  const user = said.filter(({ role, kind }) => role === 'user' && kind === 'text').slice(-USER_TEXTS_MAX)
  const answers = said.filter(({ role, kind }) => role === 'assistant' && kind === 'text')
  const tools = said.filter(({ kind }) => kind === 'tool_use').slice(-COMMANDS_MAX)
  const results = said.filter(({ kind }) => kind === 'tool_result')
  return [
    section(
      'User messages',
      user.map(({ text }) => quote(text, USER_TEXT_CHARS_MAX)),
    ),
    section('Files', pathsIn(said)),
    section(
      'Tool calls',
      tools.map(({ text }) => quote(text, 160)),
    ),
    section('Errors', errorsIn(results)),
    section(
      'Last answer',
      answers.slice(-1).map(({ text }) => quote(text, LAST_ANSWER_CHARS_MAX)),
    ),
  ]
    .filter((text) => text !== '')
    .join('\n\n')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n${lines.map((line) => `- ${line}`).join('\n')}`
}

function quote(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text
}

function pathsIn(said: readonly Utterance[]): readonly string[] {
  const paths = new Set<string>()
  for (const { text } of said)
    for (const word of text.split(WORD_BREAK))
      if (word.length <= PATH_CHARS_MAX && word.includes('/') && PATH.test(word)) paths.add(word)
  return [...paths].slice(-PATHS_MAX)
}

function errorsIn(results: readonly Utterance[]): readonly string[] {
  return results
    .flatMap(({ text }) =>
      ERROR_LINE.test(text) ? splitSentences(text).filter((line) => ERROR_LINE.test(line)) : [],
    )
    .slice(-ERRORS_MAX)
}
