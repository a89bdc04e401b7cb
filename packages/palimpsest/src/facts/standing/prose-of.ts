/** A sentence and, if it is in a list, what announced the list: a heading, or a line that ends with a colon. */
export interface Prose {
  readonly text: string
  readonly under?: string
}

// The sentences of a text that were written as prose. Pasted text does not count: code, diffs, logs, traces, quotes, tables.

const FENCE = /^\s{0,3}(`{3,}|~{3,})/
const TAG_OPEN = /^\s*<([A-Za-z][\w-]*)(?:\s[^>]*)?>\s*$/
const COMMENT_OPEN = /^\s*(?:\/\*|<!--|"""|''')/
/** What opens a comment has at most this many characters. */
const COMMENT_MARK_CHARS = 3
const COMMENT_CLOSE = /(?:\*\/|-->|"""|''')\s*$/
const DIFF_OPEN = /^(?:diff --git |--- [ab/]|\+\+\+ [ab/]|@@ -\d|index [0-9a-f]{7,}\.\.)/
const DIFF_LINE = /^(?:[+\-@\\ ]|diff |index |$)/

/** Lines that are pasted text by themselves. */
const PASTED: readonly RegExp[] = [
  // Indented by a tab or four spaces.
  /^(?:\t| {4,})\S/,
  // Comments, quotes, tables, prompts.
  /^\s*(?:\/\/|\/\*|\*\/|#(?!\d|[a-z]+:)|--\s|;|%|<!--|>|\||\$ |❯|>>> )/,
  // Code: braces, calls and assignments that end a line, declarations.
  /[{};]\s*(?:(?:\/\/|#|\/\*).*)?$/,
  /^\s*(?:[\w$.]+\([^)]*\)|[\w$.]+(?:\[[^\]]*\])? ?[-+*/|&]?=(?!=).*|[)\]},]+);?,?\s*(?:(?:\/\/|#).*)?$/,
  /^\s*(?:export|import|const|let|var|function|async function|def|class|return|public|private|static|func|fn|pub|package|using|namespace|struct|enum|interface|@\w+)\b.*[({=:;]/,
  /^\s*(?:from \S+ import |import [\w{*"'].*|#include\b|#!|<\/?[A-Za-z][\w-]*[\s>/])/,
  /\s(?:=>|===?|!==?|\|\||&&|->|::)\s/,
  /^\s*["'][\w.-]+["']\s*:/,
  // Logs and traces.
  /^\s*at \S+.*[:(]\d+/,
  /^\s*(?:File "[^"]+", line \d+|Traceback \(|Caused by:|npm (?:ERR!|error|warn)|error(?:\[\w+\])?:|warning(?:\[\w+\])?:|fatal:|panic:)/i,
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\s*(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2} \d\d:\d\d/,
  /^\s*\[?(?:\d\d:\d\d:\d\d|(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b)/,
  /^\s*\S+:\d+(?::\d+)?[:\s]/,
]

const BULLET = /^\s*(?:[-*•–]|\d{1,3}[.)])\s+/
/** A paragraph with more than this share of pasted lines is pasted completely. */
const PASTE_SHARE = 0.5

/** A longer text is mostly pasted, so only its beginning and end are read. */
const LOOKED_AT_CHARS = 20_000

/** The text's own sentences in order, word for word except line breaks. */
export function proseOf(text: string): readonly Prose[] {
  const isLong = text.length > 2 * LOOKED_AT_CHARS
  const parts = isLong ? [text.slice(0, LOOKED_AT_CHARS), text.slice(-LOOKED_AT_CHARS)] : [text]
  return parts.flatMap(paragraphsOf).flatMap((lines) => joinLines(lines).flatMap(sentencesOf))
}

/** Lines between blank lines, without pasted ones. */
function paragraphsOf(text: string): readonly (readonly Prose[])[] {
  const paragraphs: Prose[][] = [[]]
  for (const line of withLeads(withoutBlocks(text.split('\n')))) {
    if (line.text.trim() === '') paragraphs.push([])
    else paragraphs.at(-1)?.push(line)
  }
  return paragraphs.flatMap((lines) => {
    const pasted = lines.filter(isPasted).length
    return pasted > PASTE_SHARE * lines.length ? [] : [lines.filter((line) => !isPasted(line))]
  })
}

function isPasted({ text }: Prose): boolean {
  return PASTED.some((pattern) => pattern.test(text))
}

const HEADING = /^#{1,6}\s+(\S.*)$/
/** A longer line that ends with a colon announces no list. */
const LEAD_CHARS_MAX = 200

/** The items of a list, with what announced it. A heading applies until the next one, another line until the list ends. */
function withLeads(lines: readonly string[]): readonly Prose[] {
  let heading: string | undefined
  let lead: string | undefined
  return lines.map((text) => {
    const line = text.trim()
    const isPoint = BULLET.test(text)
    const title = HEADING.exec(line)?.[1]
    if (title !== undefined) heading = title
    if (title !== undefined || (!isPoint && line !== '')) lead = undefined
    const under = lead ?? heading
    if (/[:：]$/.test(line) && line.length <= LEAD_CHARS_MAX) lead = line
    return isPoint && under !== undefined ? { text, under } : { text }
  })
}

/** Blanks the lines of blocks that one line opens and another closes: fences, tags alone on their line, comments, diffs. */
function withoutBlocks(lines: readonly string[]): readonly string[] {
  const kept: string[] = []
  // What was found unclosed is not searched again.
  const open = new Set<string>()
  for (let i = 0; i < lines.length; i++) {
    const end = blockEnd(lines, i, open)
    kept.push(end === undefined ? (lines[i] ?? '') : '')
    i = end ?? i
  }
  return kept
}

/** The last line of the block that this line opens. */
function blockEnd(lines: readonly string[], from: number, open: Set<string>): number | undefined {
  const line = lines[from] ?? ''
  const fence = FENCE.exec(line)?.[1]
  if (fence !== undefined) {
    const isFence = (one: string): boolean =>
      one.trim().startsWith(fence) && one.trim().replaceAll(fence[0] ?? '', '') === ''
    return nextLine(lines, from, isFence) ?? lines.length - 1
  }
  const tag = TAG_OPEN.exec(line)?.[1]
  const isComment = COMMENT_OPEN.test(line) && !COMMENT_CLOSE.test(line.trim().slice(COMMENT_MARK_CHARS))
  if (tag !== undefined || isComment) {
    const name = tag ?? 'comment'
    if (open.has(name)) return undefined
    const end = nextLine(lines, from, (one) =>
      tag === undefined ? COMMENT_CLOSE.test(one) : one.includes(`</${tag}>`),
    )
    if (end === undefined) open.add(name)
    return end
  }
  if (!DIFF_OPEN.test(line)) return undefined
  const end = nextLine(lines, from, (one) => !DIFF_LINE.test(one) && !DIFF_OPEN.test(one))
  return end === undefined ? lines.length - 1 : end - 1
}

function nextLine(
  lines: readonly string[],
  from: number,
  matches: (line: string) => boolean,
): number | undefined {
  for (let i = from + 1; i < lines.length; i++) if (matches(lines[i] ?? '')) return i
  return undefined
}

/** A shorter line was not wrapped: in chats, people end a sentence with its line. */
const WRAPPED_CHARS_MIN = 40

/** Joins wrapped text: lines of one paragraph that continue in the next line. */
function joinLines(lines: readonly Prose[]): readonly Prose[] {
  const joined: Prose[] = []
  let last = ''
  for (const { text: line, under } of lines) {
    const before = joined.at(-1)
    const goesOn =
      before !== undefined &&
      last.length >= WRAPPED_CHARS_MIN &&
      !/[.!?:;。！？：；]\s*$/.test(before.text) &&
      /^\s{0,3}\p{Ll}/u.test(line) &&
      !BULLET.test(line)
    if (goesOn) joined[joined.length - 1] = { ...before, text: `${before.text} ${line.trim()}` }
    else joined.push({ text: line.replace(BULLET, '').trim(), ...(under !== undefined && { under }) })
    last = line
  }
  return joined
}

/** After a closing quote or bracket, a lower-case letter continues the sentence. */
const SENTENCE_END = /(?<=[.!?])\s+|(?<=[.!?])["'”’)\]*_]+\s+(?=[^\p{Ll}])|(?<=[。！？])/u
/** A sentence continues after these: an abbreviation, an ellipsis, a number. */
const NO_END =
  /(?:\b(?:e\.g|i\.e|eg|ie|etc|vs|cf|approx|incl|z\.b|d\.h|u\.a|bzw|ggf|p\.ej|p\.ex)|\.\.|^\d{1,3})\.$/i

/** In chats, people begin sentences with lower-case letters. */
function sentencesOf({ text, under }: Prose): readonly Prose[] {
  const sentences: string[] = []
  for (const part of text.split(SENTENCE_END)) {
    const before = sentences.at(-1)
    const goesOn = before !== undefined && NO_END.test(before)
    if (goesOn) sentences[sentences.length - 1] = `${before} ${part}`
    else sentences.push(part.trim())
  }
  return sentences
    .filter((sentence) => sentence !== '')
    .map((sentence) => ({ text: sentence, ...(under !== undefined && { under }) }))
}
