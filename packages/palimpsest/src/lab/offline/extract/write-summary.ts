import { visibleText } from '../visible-text.ts'
import type { SessionFacts, TouchedFile } from './found-facts.ts'

// A summary in nine sections, by extraction: it contains only what was said or done in the conversation.

const FILES_MAX = 60
const SNIPPETS_MAX = 8
const SNIPPET_LINES_MAX = 12
const COMMANDS_MAX = 30
const ERRORS_MAX = 15
const CONCEPTS_MAX = 20
const ANSWERS_MAX = 12
const ANSWER_CHARS_MAX = 1_500
/** A longer user message keeps only its head and tail. */
const REQUEST_CHARS_MAX = 8_000
const REQUEST_TAIL_CHARS = 1_000
const LINE_CHARS_MAX = 300

interface Section {
  readonly title: string
  readonly parts: readonly Part[]
}

interface Part {
  readonly items: readonly string[]
  /** Share of the room if there is not enough for everything. */
  readonly share: number
  /** Items make sense only whole, so they are never cut. */
  readonly uncut?: true
}

/** To stay within `charsMax`, every section shrinks, the user's words and the changed files last. */
export function writeSummary(facts: SessionFacts, charsMax = Infinity): string {
  const sections = sectionsOf(facts)
  const frame = sections.reduce((sum, { title }) => sum + title.length + FRAME_CHARS, 0)
  const rooms = shareOut(
    sections.flatMap(({ parts }) => parts),
    charsMax - frame,
  )
  return sections
    .map(({ title, parts }, i) => {
      const fitting = parts.flatMap((part) => fitItems(part, rooms.get(part) ?? 0))
      return `${i + 1}. ${title}:\n${fitting.length === 0 ? '   - None.' : fitting.join('\n')}`
    })
    .join('\n\n')
}

/** Number, colon, line breaks, and the line that says that a section is empty. */
const FRAME_CHARS = 20

function sectionsOf(facts: SessionFacts): readonly Section[] {
  const { requests, answers, todos } = facts
  const open = todos.filter(({ status }) => status !== 'completed' && status !== 'deleted')
  const first = requests.slice(0, 1).map((text) => clip(text, LINE_CHARS_MAX))
  const solved = answers.slice(-ANSWERS_MAX, -1).map((text) => clip(text, ANSWER_CHARS_MAX))
  return [
    { title: 'Primary request and intent', parts: [{ share: 0.03, items: first }] },
    { title: 'Key concepts', parts: [{ share: 0.02, items: conceptsOf(facts) }] },
    {
      title: 'Files and code',
      parts: [
        { share: 0.24, items: changedLines(facts), uncut: true },
        { share: 0.06, items: codeLines(facts) },
        { share: 0.02, items: readLines(facts), uncut: true },
      ],
    },
    { title: 'Errors and fixes', parts: [{ share: 0.08, items: errorLines(facts) }] },
    { title: 'Problem solving', parts: [{ share: 0.1, items: solved }] },
    { title: 'All user messages', parts: [{ share: 0.28, items: requests.map(keepWords) }] },
    {
      title: 'Pending tasks',
      parts: [{ share: 0.05, items: open.map(({ text, status }) => `[${status}] ${text}`) }],
    },
    { title: 'Current work', parts: [{ share: 0.1, items: currentWork(facts) }] },
    { title: 'Next step', parts: [{ share: 0.02, items: nextStep(facts) }] },
  ]
}

/** Room left over goes to the largest shares first. */
function shareOut(parts: readonly Part[], room: number): ReadonlyMap<Part, number> {
  const wanted = (part: Part): number => sizeOf(part.items.map(toItem))
  const rooms = new Map(
    parts.map((part) => [part, Math.min(wanted(part), Math.floor(part.share * Math.max(0, room)))]),
  )
  if (room === Infinity) return new Map(parts.map((part) => [part, Infinity]))
  let rest = room - [...rooms.values()].reduce((sum, chars) => sum + chars, 0)
  for (const part of parts.toSorted((a, b) => b.share - a.share)) {
    const had = rooms.get(part) ?? 0
    const more = Math.max(0, Math.min(wanted(part) - had, rest))
    rooms.set(part, had + more)
    rest -= more
  }
  return rooms
}

function sizeOf(items: readonly string[]): number {
  return items.reduce((sum, text) => sum + text.length + 1, 0)
}

/** A shorter piece of an item says nothing. */
const ITEM_CHARS_MIN = 60

/** Cuts the longest items first, keeping head and tail, then drops the oldest. A list of uncut items loses its last ones instead. */
function fitItems({ items, uncut }: Part, room: number): readonly string[] {
  const lines = items.map(toItem)
  if (sizeOf(lines) <= room) return lines
  if (uncut) {
    let count = lines.length
    while (count > 0 && sizeOf(lines.slice(0, count)) > room) count--
    return lines.slice(0, count)
  }
  let limit = Math.max(...lines.map((text) => text.length))
  while (limit > ITEM_CHARS_MIN && sizeOf(lines.map((text) => cutMiddle(text, limit))) > room)
    limit = Math.max(ITEM_CHARS_MIN, Math.floor(limit * LIMIT_STEP))
  const cut = lines.map((text) => cutMiddle(text, limit))
  let from = 0
  while (from < cut.length && sizeOf(cut.slice(from)) > room) from++
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

const NAME = /\b(?:[A-Za-z_$][\w$]{0,200}[a-z][A-Z][\w$]{0,200}|[A-Z][A-Z0-9]*_[A-Z0-9_]+|[a-z]+_[a-z_]+)\b/g
const MENTIONS_MIN = 2

/** The code names that the user and the model mentioned most. */
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

/** How many of the newest files appear with their whole path. */
const NEWEST_FILES = 40

/** `edited src/a.ts, src/b.ts`, the newest first; older ones by folder: `edited in src: c.ts, d.ts`. */
function changedLines({ files }: SessionFacts): readonly string[] {
  const changed = files.filter(({ operation }) => operation !== 'read').toReversed()
  const newest = groupLines(changed.slice(0, NEWEST_FILES), ({ path, operation }) => [operation, path])
  const older = groupLines(changed.slice(NEWEST_FILES), ({ path, operation }) => {
    const at = path.lastIndexOf('/')
    return at < 0 ? [operation, path] : [`${operation} in ${path.slice(0, at)}:`, path.slice(at + 1)]
  })
  return [...newest, ...older]
}

function groupLines(
  files: readonly TouchedFile[],
  nameOf: (file: TouchedFile) => readonly [heading: string, name: string],
): readonly string[] {
  const groups = new Map<string, string[]>()
  for (const file of files) {
    const [heading, name] = nameOf(file)
    groups.set(heading, [...(groups.get(heading) ?? []), name])
  }
  return [...groups].flatMap(([heading, names]) =>
    Array.from(
      { length: Math.ceil(names.length / NAMES_MAX) },
      (_, i) => `${heading} ${names.slice(i * NAMES_MAX, (i + 1) * NAMES_MAX).join(', ')}`,
    ),
  )
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

/** The next step, with the user's words that justify it. */
function nextStep({ requests, todos }: SessionFacts): readonly string[] {
  const next =
    todos.find(({ status }) => status === 'in_progress') ?? todos.find(({ status }) => status === 'pending')
  const asked = requests.at(-1)
  return [
    ...(next ? [next.text] : []),
    ...(asked === undefined ? [] : [`The user's last words: "${clip(asked, LINE_CHARS_MAX)}"`]),
  ]
}
