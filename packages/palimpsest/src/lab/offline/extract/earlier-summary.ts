import type { FoundError, Todo, TouchedFile } from './found-facts.ts'

// A compacted conversation begins with a summary of what came before. We take over what it lists, so that a second summary forgets
// nothing that the first one said.

export interface EarlierSummary {
  readonly requests: readonly string[]
  readonly files: readonly TouchedFile[]
  readonly errors: readonly FoundError[]
  readonly todos: readonly Todo[]
  readonly answers: readonly string[]
}

const OPENING =
  /\b(?:continues an earlier (?:one|conversation)|continued from a previous conversation|is a summary of (?:the|an) earlier)\b/i
const OPENING_CHARS = 400

/** Undefined if the text is not such a summary. */
export function readEarlierSummary(text: string): EarlierSummary | undefined {
  if (!OPENING.test(text.slice(0, OPENING_CHARS))) return undefined
  const sections = sectionsOf(text)
  const itemsUnder = (title: RegExp): readonly string[] =>
    sections.filter((section) => title.test(section.title)).flatMap(({ lines }) => itemsOf(lines))
  return {
    requests: withoutTwins(itemsUnder(/user messages|messages of the user/i)),
    files: sections.filter(({ title }) => /files/i.test(title)).flatMap(({ lines }) => filesIn(lines)),
    errors: itemsUnder(/errors/i).flatMap(errorIn),
    todos: itemsUnder(/pending|to-dos/i).flatMap(todoIn),
    answers: itemsUnder(/problem solving|current work/i).filter((item) => !NO_ANSWER.test(item)),
  }
}

const NO_ANSWER = /^(?:None\.$|Commands:|In progress:|`)/
const CUT_MARK = /^\[[\w-]+, \d+ characters\] /
const HEAD_CHARS = 40

/** If a message appears twice, once cut and with its id, keeps the one with the id. */
function withoutTwins(items: readonly string[]): readonly string[] {
  const heads = new Set(
    items
      .filter((item) => CUT_MARK.test(item))
      .map((item) => item.replace(CUT_MARK, '').slice(0, HEAD_CHARS)),
  )
  const kept = items.filter((item) => item !== 'None.' && !heads.has(item.slice(0, HEAD_CHARS)))
  return [...new Set(kept)]
}

interface Section {
  readonly title: string
  readonly lines: readonly string[]
}

const HEADING = /^(?:\d{1,2}\. (.+):|#{2,3} (.+))$/

function sectionsOf(text: string): readonly Section[] {
  const sections: { title: string; lines: string[] }[] = []
  for (const line of text.split('\n')) {
    const heading = HEADING.exec(line)
    if (heading) sections.push({ title: heading[1] ?? heading[2] ?? '', lines: [] })
    else sections.at(-1)?.lines.push(line)
  }
  return sections
}

const ITEM = /^( {0,3})- (.*)$/

/** Lines that begin with a dash, each with the lines indented under it. */
function itemsOf(lines: readonly string[]): readonly string[] {
  const items: string[][] = []
  let indent = 0
  // Lines without indentation belong to no item.
  let closed = true
  for (const line of lines) {
    const item = ITEM.exec(line)
    if (closed && !item) continue
    closed = false
    if (item && (items.length === 0 || (item[1]?.length ?? 0) <= indent)) {
      indent = item[1]?.length ?? 0
      items.push([item[2] ?? ''])
    } else if (line.startsWith(' '.repeat(indent + 2))) items.at(-1)?.push(line.slice(indent + 2))
    else if (line.trim() === '' || line.startsWith(' ')) items.at(-1)?.push(line.trim())
    else closed = true
  }
  return items.map((item) => item.join('\n').trim()).filter((item) => item !== '')
}

const OPERATION = /^\s*- (edited|created|written|moved|deleted|read)(?: in (\S+):)? (.+)$/
const ROOT = /^\s*(?:- )?Paths begin at (\/.*\/)$/

/** Reads `- edited src/a.ts, src/b.ts` and `- edited in src: a.ts, b.ts`. */
function filesIn(lines: readonly string[]): readonly TouchedFile[] {
  let root = ''
  return lines
    .flatMap((line): readonly TouchedFile[] => {
      root = ROOT.exec(line)?.[1] ?? root
      const [, verb, folder, names] = OPERATION.exec(line) ?? []
      const operation = OPERATIONS.find((one) => one === verb)
      if (operation === undefined || names === undefined) return []
      return names.split(', ').map((name) => ({ path: pathOf(root, folder, name), operation }))
    })
    .toReversed()
}

const OPERATIONS = ['edited', 'created', 'written', 'moved', 'deleted', 'read'] as const

function pathOf(root: string, folder: string | undefined, name: string): string {
  const inFolder = folder === undefined || folder === '.' ? name : `${folder}/${name}`
  return inFolder.startsWith('/') ? inFolder : `${root}${inFolder}`
}

const ERROR = /^(?:Unresolved, during )?(\w* ?`[^`]*`)(?: \(data\))?: (.+)$/s

function errorIn(item: string): readonly FoundError[] {
  if (item.startsWith('Resolved')) return []
  const [, during, text] = ERROR.exec(item) ?? []
  return during === undefined || text === undefined
    ? []
    : [{ during: during.replaceAll('`', ''), text, isResolved: false }]
}

const TODO = /^\[(open|running|pending|in_progress)\] (.+)$/s

function todoIn(item: string): readonly Todo[] {
  const [, status, text] = TODO.exec(item) ?? []
  return status === undefined || text === undefined ? [] : [{ status, text }]
}
