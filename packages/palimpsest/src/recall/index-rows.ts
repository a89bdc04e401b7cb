import type { Entry, MessageEntry } from '../transcript/entry.ts'
import { isBlock, toBlocks, type Block } from '../wire/message.ts'
import { chunkRanges, type TextRange } from './chunk-ranges.ts'
import { partsOf } from './terms.ts'
import { blockTexts, textsOf, type EntryText, type TextKind } from './texts-of.ts'

// What an index has for an entry: rows of words, and where the text is that they come from.

export interface RowWords {
  /** Who says it: a role, the name of a tool, or a speaker as the text names them, with the colon. */
  readonly who: string
  /** For a call and its result: the files, patterns and commands that the call names. */
  readonly about: string
  readonly body: string
  /** Pieces of its names. */
  readonly parts: string
  /** What was said before it, and after it: people remember a question by the words of its answer. */
  readonly before: string
  readonly after: string
  /** The day, as people write it. */
  readonly day: string
}

export interface IndexRow extends TextRange {
  readonly kind: RowKind
  /** Index of the block in its message; -1 if an entry has no blocks. */
  readonly block: number
  /** Links a call and its result: the id of the tool use. */
  readonly useId: string | undefined
  readonly words: RowWords
}

export type RowKind = TextKind | 'stored' | 'memory'

/** What rows of a file know about the rows before them. Plain data, stored with the file. */
export interface RowContext {
  /** Calls without a result yet. */
  readonly calls: { readonly [useId: string]: Call }
  /** The last turns of talk, oldest first. */
  readonly said: readonly string[]
}

interface Call {
  readonly tool: string
  readonly about: string
}

export const NO_CONTEXT: RowContext = { calls: {}, said: [] }

/** A file that broke off leaves calls without a result. */
const CALLS_MAX = 64
/** Turns before a turn that still show what it is about: two find more than one. */
const SAID_MAX = 2
/** A longer turn says at its beginning what it is about. */
const SAID_CHARS_MAX = 200
const ABOUT_CHARS_MAX = 400

export function rowsOfEntry(
  entry: Entry,
  context: RowContext,
): { readonly rows: readonly IndexRow[]; readonly context: RowContext } {
  if (entry.kind !== 'message') {
    const text = textsOf(entry)
      .map((part) => part.text)
      .join('\n')
    const kind = entry.kind === 'notes' ? 'notes' : 'other'
    return { rows: text === '' ? [] : rowsOfText(text, { kind, block: -1, at: entry.at }), context }
  }
  let next = context
  const rows: IndexRow[] = []
  for (const [block, content] of toBlocks(entry.message.content).entries()) {
    const parts = textParts(entry, content)
    const [first] = parts
    if (!first) continue
    const text = parts.map((part) => part.text).join('\n')
    const call = callOf(content, next)
    const isTalk = isBlock(content, 'text') && (first.kind === 'user' || first.kind === 'assistant')
    rows.push(
      ...rowsOfText(text, {
        kind: first.kind,
        block,
        at: entry.at,
        useId: call?.id,
        who: call?.tool ?? (isTalk ? LABEL.exec(text)?.[0].trim() : undefined),
        about: call?.about,
        before: isTalk ? next.said.join('\n') : '',
      }),
    )
    next = contextAfter(next, content, isTalk ? text : undefined, call)
  }
  return { rows, context: next }
}

/** The texts of one block of a message, or of an entry without blocks. A row's range counts in them, joined by line ends. */
export function partsAt(entry: Entry, block: number): readonly EntryText[] {
  if (entry.kind !== 'message') return textsOf(entry)
  const content = toBlocks(entry.message.content)[block]
  return content ? textParts(entry, content) : []
}

function textParts(entry: MessageEntry, block: Block): readonly EntryText[] {
  // A copy repeats a message that is already in the file, and so does recalled text.
  if (entry.part === 'kept' || entry.origin === 'recall') return []
  return blockTexts(entry, block).filter(({ text }) => text.trim() !== '')
}

interface About {
  readonly kind: RowKind
  readonly block: number
  readonly at: number
  readonly useId?: string | undefined
  readonly who?: string | undefined
  readonly about?: string | undefined
  readonly before?: string
}

/** Read prints numbers before its lines. */
const LINE_NUMBERS = /^ *\d+[→\t|:]/gm

export function rowsOfText(text: string, given: About): readonly IndexRow[] {
  const { kind, block, at, useId, before = '' } = given
  const about =
    given.about === undefined || given.about === '' ? '' : `${given.about} ${partsOf(given.about)}`
  const day = dayOf(at)
  return chunkRanges(text).map(({ from, to }) => {
    const piece = text.slice(from, to)
    const body = kind === 'tool_result' || kind === 'stored' ? piece.replaceAll(LINE_NUMBERS, '') : piece
    const words = { who: given.who ?? kind, about, body, parts: partsOf(body), before, after: '', day }
    return { from, to, kind, block, useId, words }
  })
}

/** `Caroline: Good to see you!` names its speaker, as in the minutes of a meeting. */
const LABEL = /^\p{Lu}[\p{L}\p{N}_.-]{0,30}: /u

/** For the turns beside it: what was said, not by whom. */
export function withoutLabel(said: string): string {
  return said.replace(LABEL, '').slice(0, SAID_CHARS_MAX)
}

function contextAfter(
  context: RowContext,
  content: Block,
  said: string | undefined,
  call: (Call & { readonly id: string }) | undefined,
): RowContext {
  if (said !== undefined) return { ...context, said: [...context.said, withoutLabel(said)].slice(-SAID_MAX) }
  if (!call) return context
  const others = Object.entries(context.calls).filter(([id]) => id !== call.id)
  const mine: [string, Call][] = isBlock(content, 'tool_use')
    ? [[call.id, { tool: call.tool, about: call.about }]]
    : []
  return { ...context, calls: Object.fromEntries([...others, ...mine].slice(-CALLS_MAX)) }
}

function callOf(block: Block, { calls }: RowContext): (Call & { readonly id: string }) | undefined {
  if (isBlock(block, 'tool_use'))
    return { id: block.id, tool: block.name.slice(0, ABOUT_CHARS_MAX), about: aboutOf(block.input) }
  if (!isBlock(block, 'tool_result')) return undefined
  const { tool = 'tool', about = '' } = calls[block.tool_use_id] ?? {}
  return { id: block.tool_use_id, tool, about }
}

const TELLING = /path|file|pattern|command|cmd|query|glob|url/i

/** Files, patterns and commands in the input of a call. */
export function aboutOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  return Object.entries(input)
    .flatMap(([name, value]: [string, unknown]) => {
      if (typeof value === 'string') return TELLING.test(name) ? [value.slice(0, ABOUT_CHARS_MAX)] : []
      return Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, 8) : []
    })
    .join(' ')
    .slice(0, 4 * ABOUT_CHARS_MAX)
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** Such as `8 May 2023`. */
function dayOf(at: number): string {
  if (!Number.isFinite(at)) return ''
  const date = new Date(at)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ''} ${date.getUTCFullYear()}`
}
