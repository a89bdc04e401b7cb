import { visibleText } from '../visible-text.ts'
import type { SessionFacts } from './found-facts.ts'

// A summary in nine sections, by extraction: nothing in it was not said or done in the conversation.

const FILES_MAX = 60
const SNIPPETS_MAX = 8
const SNIPPET_LINES_MAX = 12
const COMMANDS_MAX = 30
const ERRORS_MAX = 15
const CONCEPTS_MAX = 20
const ANSWERS_MAX = 12
const ANSWER_CHARS_MAX = 1_500
/** Longer words of the user are kept by head and tail. */
const REQUEST_CHARS_MAX = 8_000
const REQUEST_TAIL_CHARS = 1_000
const LINE_CHARS_MAX = 300

interface Section {
  readonly title: string
  readonly items: readonly string[]
  /** Of the room, where there is not enough for all. */
  readonly share: number
}

/** With `charsMax` every section gives way, the user's words and the changed files last. */
export function writeSummary(facts: SessionFacts, charsMax = Infinity): string {
  const sections = sectionsOf(facts)
  const frame = sections.reduce((sum, { title }) => sum + title.length + FRAME_CHARS, 0)
  const rooms = shareOut(sections, charsMax - frame)
  return sections
    .map(({ title, items }, i) => {
      const fitting = fitItems(items.map(toItem), rooms[i] ?? 0)
      return `${i + 1}. ${title}:\n${fitting.length === 0 ? '   - None.' : fitting.join('\n')}`
    })
    .join('\n\n')
}

/** Number, colon, line breaks, and the line that says that there is nothing. */
const FRAME_CHARS = 20

function sectionsOf(facts: SessionFacts): readonly Section[] {
  const { requests, answers, todos } = facts
  const open = todos.filter(({ status }) => status !== 'completed' && status !== 'deleted')
  const first = requests.slice(0, 1).map((text) => clip(text, LINE_CHARS_MAX))
  return [
    { title: 'Primary request and intent', share: 0.04, items: first },
    { title: 'Key concepts', share: 0.02, items: conceptsOf(facts) },
    {
      title: 'Files and code',
      share: 0.28,
      items: [...changedLines(facts), ...codeLines(facts), ...readLines(facts)],
    },
    { title: 'Errors and fixes', share: 0.1, items: errorLines(facts) },
    {
      title: 'Problem solving',
      share: 0.1,
      items: answers.slice(-ANSWERS_MAX, -1).map((text) => clip(text, ANSWER_CHARS_MAX)),
    },
    { title: 'All user messages', share: 0.3, items: requests.map(keepWords) },
    { title: 'Pending tasks', share: 0.05, items: open.map(({ text, status }) => `[${status}] ${text}`) },
    { title: 'Current work', share: 0.08, items: currentWork(facts) },
    { title: 'Next step', share: 0.03, items: nextStep(facts) },
  ]
}

function shareOut(sections: readonly Section[], room: number): readonly number[] {
  const wanted = sections.map(({ items }) => items.reduce((sum, text) => sum + toItem(text).length + 1, 0))
  if (wanted.reduce((sum, chars) => sum + chars, 0) <= room) return wanted
  const rooms = sections.map(({ share }, i) =>
    Math.min(wanted[i] ?? 0, Math.floor(share * Math.max(0, room))),
  )
  let rest = room - rooms.reduce((sum, chars) => sum + chars, 0)
  // What is left over goes to the user's words first, then in order.
  const order = sections.map((_, i) => i).toSorted((a, b) => Number(b === WORDS_AT) - Number(a === WORDS_AT))
  for (const i of order) {
    const more = Math.max(0, Math.min((wanted[i] ?? 0) - (rooms[i] ?? 0), rest))
    rooms[i] = (rooms[i] ?? 0) + more
    rest -= more
  }
  return rooms
}

/** The place of the user's messages among the sections. */
const WORDS_AT = 5
/** A shorter piece of an item says nothing. */
const ITEM_CHARS_MIN = 60

/** The longest items are cut first, by head and tail; where that is not enough the oldest go. */
function fitItems(items: readonly string[], room: number): readonly string[] {
  const size = (list: readonly string[]): number => list.reduce((sum, text) => sum + text.length + 1, 0)
  if (size(items) <= room) return items
  let limit = Math.max(...items.map((text) => text.length))
  while (limit > ITEM_CHARS_MIN && size(items.map((text) => cutMiddle(text, limit))) > room)
    limit = Math.max(ITEM_CHARS_MIN, Math.floor(limit * LIMIT_STEP))
  const cut = items.map((text) => cutMiddle(text, limit))
  let from = 0
  while (from < cut.length && size(cut.slice(from)) > room) from++
  return cut.slice(from)
}

const LIMIT_STEP = 0.9
const CUT = ' […] '
const CUT_HEAD_SHARE = 0.65

function cutMiddle(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const head = Math.floor((charsMax - CUT.length) * CUT_HEAD_SHARE)
  return text.slice(0, head) + CUT + text.slice(head + CUT.length - charsMax)
}

function toItem(text: string): string {
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
  return [...changed, ...read].slice(0, FILES_MAX).map(({ path, operation }) => `${path} (${operation})`)
}

/** More names in a line are hard to read. */
const NAMES_MAX = 7

/** `edited src/a.ts, src/b.ts`, the newest first. */
function changedLines({ files }: SessionFacts): readonly string[] {
  const changed = files.filter(({ operation }) => operation !== 'read').toReversed()
  const operations = [...new Set(changed.map(({ operation }) => operation))]
  return operations.flatMap((operation) => {
    const paths = changed.filter((file) => file.operation === operation).map(({ path }) => path)
    return Array.from(
      { length: Math.ceil(paths.length / NAMES_MAX) },
      (_, i) => `${operation} ${paths.slice(i * NAMES_MAX, (i + 1) * NAMES_MAX).join(', ')}`,
    )
  })
}

function readLines({ files }: SessionFacts): readonly string[] {
  return files
    .filter(({ operation }) => operation === 'read')
    .slice(-FILES_MAX)
    .toReversed()
    .map(({ path }) => `read ${path}`)
}

function codeLines({ files }: SessionFacts): readonly string[] {
  return files
    .toReversed()
    .flatMap(({ path, snippet }) => (snippet === undefined ? [] : [`In ${path}:\n${fence(snippet)}`]))
    .slice(0, SNIPPETS_MAX)
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
