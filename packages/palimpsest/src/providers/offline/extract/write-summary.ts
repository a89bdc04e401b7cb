import { visibleText } from '../visible-text.ts'
import type { SessionFacts } from './session-facts.ts'
import { standingWords } from './standing-words.ts'

// A summary in nine sections, by extraction: nothing in it was not said or done in the conversation.

const FILES_MAX = 60
const SNIPPETS_MAX = 8
const SNIPPET_LINES_MAX = 12
const COMMANDS_MAX = 30
const ERRORS_MAX = 15
const CONCEPTS_MAX = 20
const ANSWERS_MAX = 6
const ANSWER_CHARS_MAX = 1_500
/** Longer words of the user are kept by head and tail. */
const REQUEST_CHARS_MAX = 8_000
const REQUEST_TAIL_CHARS = 1_000
const LINE_CHARS_MAX = 300

export function writeSummary(facts: SessionFacts): string {
  const { requests, answers, todos } = facts
  const open = todos.filter(({ status }) => status !== 'completed')
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [
      'Primary request and intent',
      [...requests.slice(0, 1), ...requests.slice(1).slice(-1)].map((text) => clip(text, ANSWER_CHARS_MAX)),
    ],
    ['Key concepts', conceptsOf(facts)],
    ['Files and code', fileLines(facts)],
    ['Errors and fixes', errorLines(facts)],
    [
      'Problem solving',
      answers.slice(-ANSWERS_MAX, -1).map((text) => clip(firstParagraph(text), LINE_CHARS_MAX)),
    ],
    ['All user messages', requests.map(keepWords)],
    [
      'Pending tasks',
      [
        ...open.map(({ text, status }) => `[${status}] ${text}`),
        ...standingWords(requests).map((text) => `Standing: ${text}`),
      ],
    ],
    ['Current work', currentWork(facts)],
    ['Next step', nextStep(facts)],
  ]
  return sections
    .map(
      ([title, lines], i) =>
        `${i + 1}. ${title}:\n${lines.length === 0 ? '   - None.' : lines.map(item).join('\n')}`,
    )
    .join('\n\n')
}

function item(text: string): string {
  return `   - ${visibleText(text).replaceAll('\n', '\n     ')}`
}

export function clip(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text
}

function keepWords(text: string): string {
  if (text.length <= REQUEST_CHARS_MAX) return text
  const head = text.slice(0, REQUEST_CHARS_MAX - REQUEST_TAIL_CHARS)
  return `${head}\n[… ${text.length - REQUEST_CHARS_MAX} characters left out …]\n${text.slice(-REQUEST_TAIL_CHARS)}`
}

function firstParagraph(text: string): string {
  return text.split(/\n\s*\n/)[0] ?? ''
}

const NAME = /\b(?:[A-Za-z_$][\w$]*[a-z][A-Z][\w$]*|[A-Z][A-Z0-9]*_[A-Z0-9_]+|[a-z]+_[a-z_]+)\b/g
const MENTIONS_MIN = 2

/** Names of the code that people and model spoke of most. */
export function conceptsOf({ requests, answers }: SessionFacts): readonly string[] {
  const counts = new Map<string, number>()
  for (const text of [...requests, ...answers])
    for (const [name] of text.matchAll(NAME)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count >= MENTIONS_MIN)
    .toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, CONCEPTS_MAX)
    .map(([name]) => name)
}

/** Changed files first: they must not be forgotten. */
export function fileLines({ files }: SessionFacts): readonly string[] {
  const changed = files.filter(({ operation }) => operation !== 'read').toReversed()
  const read = files.filter(({ operation }) => operation === 'read').toReversed()
  return [...changed, ...read].slice(0, FILES_MAX).map(({ path, operation, snippet }, i) => {
    const code = snippet === undefined || i >= SNIPPETS_MAX ? '' : `\n${fence(snippet)}`
    return `${path} (${operation})${code}`
  })
}

function fence(code: string): string {
  const lines = code.split('\n')
  const shown = lines.slice(0, SNIPPET_LINES_MAX).map((line) => clip(line, LINE_CHARS_MAX))
  const more = lines.length > SNIPPET_LINES_MAX ? [`… ${lines.length - SNIPPET_LINES_MAX} more lines`] : []
  return ['```', ...shown, ...more, '```'].join('\n')
}

export function errorLines({ errors }: SessionFacts): readonly string[] {
  return errors
    .slice(-ERRORS_MAX)
    .map(
      ({ text, during, isResolved }) =>
        `${isResolved ? 'Resolved' : 'Unresolved'}, during \`${during}\` (data): ${text}`,
    )
}

export function commandLines({ commands }: SessionFacts): readonly string[] {
  return commands
    .slice(-COMMANDS_MAX)
    .map(({ command, outcome }) => `\`${clip(command, LINE_CHARS_MAX)}\` → ${outcome}`)
}

function currentWork(facts: SessionFacts): readonly string[] {
  const last = facts.answers.at(-1)
  const active = facts.todos
    .filter(({ status }) => status === 'in_progress')
    .map(({ text }) => `In progress: ${text}`)
  const commands = commandLines(facts)
  return [
    ...active,
    ...(last === undefined ? [] : [clip(last, ANSWER_CHARS_MAX)]),
    ...(commands.length === 0 ? [] : [`Commands:\n${commands.join('\n')}`]),
  ]
}

/** With the words that justify it. */
function nextStep({ requests, todos }: SessionFacts): readonly string[] {
  const next =
    todos.find(({ status }) => status === 'in_progress') ?? todos.find(({ status }) => status === 'pending')
  const asked = requests.at(-1)
  return [
    ...(next ? [next.text] : []),
    ...(asked === undefined ? [] : [`The user's last words: "${clip(asked, LINE_CHARS_MAX)}"`]),
  ]
}
