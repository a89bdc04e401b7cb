import { contradictedCalls } from '../../../facts/contradicted.ts'
import { factsOf } from '../../../facts/facts-of.ts'
import { commandStart, commandWords } from '../../../facts/like-call.ts'
import { familyOf, readCall, type ReadCall } from '../../../facts/read-call.ts'
import { isOf } from '../../../facts/tool-natures.ts'
import { estimateText } from '../../../tokens/estimate.ts'
import { offersRecall } from '../../../transcript/recall-tool.ts'
import { shortId } from '../../../transcript/short-id.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'
import { isJsonObject } from '../../../wire/json.ts'
import {
  isBlock,
  toBlocks,
  type Block,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../../wire/message.ts'
import { EXCERPTS_HEADING, frameOf, isFramed, readExcerpts, writeExcerpts } from './excerpt-frame.ts'
import { splitPieces } from './split-pieces.ts'
import { isUserNode } from './tail.ts'
import { SEARCH_COMMAND } from './worth.ts'

// Pieces of content that was read and leaves the view: consecutive lines as they were, with line numbers, under the call that returned
// them. A single line is no use to an edit, and shows neither what came before it nor after. Each compaction carries them to the next.

const TITLE_CHARS_MAX = 200

/** Worth of a piece by the call that returned it, as recorded sessions show it; see docs/decisions/0046. */
const READ_WORTH = 1
const SEARCH_WORTH = 1
const EDIT_WORTH = 0.8
const SHELL_SEARCH_WORTH = 0.5
/** The output of a command that failed and has not succeeded since comes before everything else. */
const EVIDENCE_WORTH = 100
/** How fast worth falls with the number of answers since. */
const AGE_FALL = 0.8
const CHANGED_WORTH = 0.5
const EARLIER_TURN_WORTH = 0.8
/** Fewest lines in the result of an edit for it to count as part of the file. */
const EDIT_LINES_MIN = 5
/** From this size on, in tokens, a piece has its full worth. */
const FULL_TOKENS = 150

interface Source {
  /** The tool, and what it was called with. */
  readonly title: string
  /** The message that has the whole result. */
  readonly id: string
  /** The file, if this is a read or an edit. */
  readonly path: string | undefined
  readonly worth: number
  readonly pieces: readonly string[]
  readonly node: number
  /** Of a carried excerpt: its file had already changed by then. */
  readonly wasChanged?: boolean
}

interface Piece {
  readonly source: Source
  readonly index: number
  readonly text: string
  readonly tokens: number
  readonly density: number
}

export interface ExcerptRoom {
  readonly toTokens: (raw: number) => number
  readonly tokensMax: number
}

/** The pieces of removed nodes that are worth most for their room; '' if there are none. `stays` has the nodes that need no excerpt. */
export function excerptsOf(
  view: View,
  gone: readonly number[],
  stays: readonly number[],
  { toTokens, tokensMax }: ExcerptRoom,
): string {
  if (tokensMax <= 0) return ''
  const touched = touchesIn(view)
  const failures = unresolvedCommands(view)
  const superseded = contradictedCalls(view)
  const sources = gone
    .flatMap((index) => sourcesIn(view, index, { failures, superseded }))
    .filter((source) => !isSuperseded(source, touched))
  const shown = shownLines(view, stays)
  const ranked = piecesOf(sources, view, touched, toTokens).toSorted((a, b) => b.density - a.density)
  const chosen = new Map<Source, Set<number>>()
  let left = tokensMax - toTokens(estimateText(EXCERPTS_HEADING))
  for (const { source, index, text, tokens } of ranked) {
    if (tokens > left || isShown(text, shown)) continue
    for (const line of text.split('\n')) shown.add(withoutNumber(line))
    left -= tokens
    const known = chosen.get(source)
    if (known) known.add(index)
    else chosen.set(source, new Set([index]))
  }
  return chosen.size === 0 ? '' : write(sources, chosen, touched)
}

/** Oldest source first; adjacent pieces are joined again. */
function write(
  sources: readonly Source[],
  chosen: ReadonlyMap<Source, ReadonlySet<number>>,
  touched: Touched,
): string {
  const written = sources.flatMap((source) => {
    const wanted = chosen.get(source)
    if (!wanted) return []
    const runs: string[][] = []
    source.pieces.forEach((piece, index) => {
      if (!wanted.has(index)) return
      if (wanted.has(index - 1)) runs.at(-1)?.push(piece)
      else runs.push([piece])
    })
    const about = { title: source.title, id: source.id, isChanged: isChanged(source, touched) }
    return runs
      .map((run) => ({ ...about, text: run.join('\n') }))
      .filter(({ text }) => source.worth >= EVIDENCE_WORTH || isReadable(text))
  })
  return written.length === 0 ? '' : writeExcerpts(written)
}

/** Fewest lines with text: fewer are just the end of something that is not shown. */
const EXCERPT_LINES_MIN = 5

function isReadable(text: string): boolean {
  return text.split('\n').filter((line) => withoutNumber(line) !== '').length >= EXCERPT_LINES_MIN
}

function piecesOf(
  sources: readonly Source[],
  { nodes }: View,
  touched: Touched,
  toTokens: (raw: number) => number,
): Piece[] {
  const answersAfter = countAfter(nodes, (node) => node.role === 'assistant')
  const wordsAfter = countAfter(nodes, isUserNode)
  return sources.flatMap((source) => {
    const age = (1 + (answersAfter[source.node] ?? 0)) ** -AGE_FALL
    const turn = (wordsAfter[source.node] ?? 0) > 0 ? EARLIER_TURN_WORTH : 1
    const worth = source.worth * age * turn * (isChanged(source, touched) ? CHANGED_WORTH : 1)
    const frame = toTokens(estimateText(frameOf(source)))
    return source.pieces.flatMap((text, index) => {
      if (text === '' || isOutdated(text, source, touched)) return []
      const own = toTokens(estimateText(text))
      const density = (worth * Math.min(1, own / FULL_TOKENS)) / (own + frame)
      return [{ source, index, text, tokens: own + frame, density }]
    })
  })
}

function countAfter(nodes: readonly ViewNode[], is: (node: ViewNode) => boolean): number[] {
  let count = 0
  return nodes
    .toReversed()
    .map((node) => {
      const after = count
      if (is(node)) count++
      return after
    })
    .toReversed()
}

interface Touched {
  /** By path: the newest node whose call changed the file. */
  readonly changed: ReadonlyMap<string, number>
  /** The newest node that read the whole file, by its path, or that made the same call, by what it asked for. */
  readonly read: ReadonlyMap<string, number>
  readonly asked: ReadonlyMap<string, number>
  /** By path: lines that edits removed from the file. */
  readonly replaced: ReadonlyMap<string, readonly Replaced[]>
}

interface Replaced {
  readonly node: number
  readonly lines: readonly string[]
}

function touchesIn({ nodes }: View): Touched {
  const changed = new Map<string, number>()
  const read = new Map<string, number>()
  const asked = new Map<string, number>()
  const replaced = new Map<string, Replaced[]>()
  for (const [index, { blocks }] of nodes.entries())
    for (const { block } of blocks) {
      if (!isBlock(block, 'tool_use')) continue
      const call = readCall(block)
      // The result of a call is in the next message.
      asked.set(askedBy(titleOf(call, block)), index + 1)
      for (const { path } of call.changes) {
        changed.set(path, index + 1)
        const taken = { node: index + 1, lines: takenOut(block) }
        replaced.set(path, [...(replaced.get(path) ?? []), taken])
      }
      if (isWholeRead(call, block)) for (const path of call.reads) read.set(path, index + 1)
    }
  return { changed, read, asked, replaced }
}

const OLD_TEXTS = ['old_string', 'oldText', 'old_str', 'oldString']

/** Lines of the old text of an edit, or of the old side of a patch. */
function takenOut({ input }: ToolUseBlock): string[] {
  const texts = leavesOf(input).flatMap(({ name, text }) => {
    if (OLD_TEXTS.includes(name)) return text.split('\n')
    const isPatch = text.includes('*** Begin Patch')
    return isPatch ? text.split('\n').flatMap((line) => (line.startsWith('-') ? [line.slice(1)] : [])) : []
  })
  return texts.map((line) => line.trim()).filter((line) => line.length >= TELLING_CHARS)
}

function leavesOf(value: unknown, name = ''): { readonly name: string; readonly text: string }[] {
  if (typeof value === 'string') return [{ name, text: value }]
  if (Array.isArray(value)) return value.flatMap((one: unknown) => leavesOf(one, name))
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, one]) => leavesOf(one, key)) : []
}

/** A later edit removed lines of the piece: it shows what is no longer there. */
function isOutdated(text: string, { path, node }: Source, { replaced }: Touched): boolean {
  const later = (path === undefined ? [] : (replaced.get(path) ?? [])).filter((one) => one.node > node)
  if (later.length === 0) return false
  const lines = new Set(text.split('\n').map(withoutNumber))
  return later.some(({ lines: taken }) => taken.some((line) => lines.has(line)))
}

function isWholeRead({ family }: ReadCall, { input }: ToolUseBlock): boolean {
  return family === 'read' && !PART.test(JSON.stringify(input))
}

const PART = /"(?:offset|limit|start_line|end_line|view_range)":/

/** A newer result of the same call shows the current state. */
function isSuperseded({ title, path, node }: Source, { read, asked }: Touched): boolean {
  return (asked.get(askedBy(title)) ?? 0) > node || (path !== undefined && (read.get(path) ?? 0) > node)
}

/** What a title asks for, whichever way the output of a command was shown. */
function askedBy(title: string): string {
  const [tool = '', ...rest] = title.split(' ')
  return familyOf(tool) === 'shell' ? [tool, ...commandWords(rest.join(' '))].join(' ') : title
}

function isChanged({ path, node, wasChanged = false }: Source, { changed }: Touched): boolean {
  return wasChanged || (path !== undefined && (changed.get(path) ?? 0) > node)
}

/** What the newest failure of each command says, by the answer that ran it. */
function unresolvedCommands(view: View): ReadonlyMap<string, string> {
  const failed = factsOf(view).errors.filter(({ tool }) => familyOf(tool) === 'shell')
  return new Map(failed.map(({ entry, text }) => [entry, text]))
}

interface Known {
  readonly failures: ReadonlyMap<string, string>
  readonly superseded: ReadonlyMap<string, string>
}

function sourcesIn({ nodes, prefix }: View, index: number, { failures, superseded }: Known): Source[] {
  const hasRecall = offersRecall(prefix)
  const node = nodes[index]
  if (!node) return []
  const carried = carriedIn(node)
  if (carried) return carried.map((source) => ({ ...source, node: index }))
  const answer = nodes[index - 1]
  if (node.answers === undefined || !answer) return []
  return node.blocks.flatMap(({ at, block, original }): Source[] => {
    if (!original || !isBlock(block, 'tool_result') || superseded.has(block.tool_use_id)) return []
    const use = answer.blocks.map(({ block: one }) => one).find((one) => isUse(one, block.tool_use_id))
    if (!use || !isBlock(use, 'tool_use')) return []
    const call = readCall(use)
    const failure = call.family === 'shell' ? failureIn(answer, failures) : undefined
    const worth = failure === undefined ? worthOfCall(call) : EVIDENCE_WORTH
    if (worth === 0 || (failure === undefined && block.is_error === true)) return []
    // A report that something was replaced is no piece of the file.
    if (call.changes.length > 0 && textOf(block).split('\n').length < EDIT_LINES_MIN) return []
    const whole = failure === undefined ? splitPieces(textOf(block)) : around(textOf(block), failure)
    const pieces = whole.map((text) => (isFramed(text) ? '' : text))
    const id = hasRecall ? shortId(at.entry) : ''
    return [{ title: titleOf(call, use), id, path: pathOf(call), worth, pieces, node: index }]
  })
}

/** One answer may be in several entries. */
function failureIn({ entries }: ViewNode, failures: Known['failures']): string | undefined {
  return entries.map((entry) => failures.get(entry)).find((failure) => failure !== undefined)
}

const LINES_BEFORE = 3
const LINES_AFTER = 12

/** The lines around the one that says what went wrong; a cut line is found by its beginning. */
function around(text: string, failure: string): string[] {
  const words = failure.endsWith('…') ? failure.slice(0, -1) : failure
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.includes(words))
  return at < 0 ? [] : [lines.slice(Math.max(0, at - LINES_BEFORE), at + LINES_AFTER).join('\n')]
}

/** The output of a command is seldom needed again, unless the command searches or shows a file. */
function worthOfCall({ tool, reads, changes, command }: ReadCall): number {
  if (changes.length > 0) return EDIT_WORTH
  if (reads.length > 0) return READ_WORTH
  if (isOf(tool, 'search', 'list')) return SEARCH_WORTH
  return command !== undefined && SEARCH_COMMAND.test(command) ? SHELL_SEARCH_WORTH : 0
}

function pathOf({ reads, changes }: ReadCall): string | undefined {
  return changes[0]?.path ?? (reads.length === 1 ? reads[0] : undefined)
}

/** Includes what tells it from other calls of its tool: where a read began, what a search looked for. */
function titleOf({ tool, target, command }: ReadCall, { input }: ToolUseBlock): string {
  const about = command === undefined ? target : commandStart(command)
  const more = TOLD.flatMap((name) => {
    const value = isJsonObject(input) ? input[name] : undefined
    const isTold = (typeof value === 'string' || typeof value === 'number') && value !== target
    return isTold ? [` ${name} ${value}`] : []
  })
  const plain = `${about}${more.join('')}`.replaceAll(/\s+/g, ' ').replaceAll('"', "'")
  return `${tool} ${plain.slice(0, TITLE_CHARS_MAX)}`
}

const TOLD = ['pattern', 'glob', 'offset', 'limit', 'start_line', 'end_line']

/** Reads back the excerpts that an earlier compaction left. Undefined for a message that no compaction made. */
function carriedIn({ source, blocks }: ViewNode): Omit<Source, 'node'>[] | undefined {
  const block = blocks[0]?.block
  if (source.part !== 'summary' || !block || !isBlock(block, 'text')) return undefined
  return readExcerpts(block.text).map(({ title, id, text, isChanged: wasChanged }) => ({
    title,
    id,
    path: pathInTitle(title),
    worth: READ_WORTH,
    pieces: splitPieces(text),
    wasChanged,
  }))
}

function pathInTitle(title: string): string | undefined {
  const [, word = ''] = title.split(' ')
  return word.includes('/') ? word : undefined
}

function isUse(block: Block, id: string): boolean {
  return isBlock(block, 'tool_use') && block.id === id
}

/** Most of it can be read in what stays. */
function isShown(text: string, shown: ReadonlySet<string>): boolean {
  const lines = text
    .split('\n')
    .map(withoutNumber)
    .filter((line) => line.length >= TELLING_CHARS)
  return lines.length === 0 || lines.filter((line) => shown.has(line)).length * 2 > lines.length
}

const TELLING_CHARS = 8
/** The column of line numbers that a file reader puts before each line. */
const NUMBER = /^\s*\d+(?:→|\t|\| |: )/

function withoutNumber(line: string): string {
  return line.replace(NUMBER, '').trim()
}

function shownLines(view: View, stays: readonly number[]): Set<string> {
  const shown = new Set<string>()
  for (const index of stays)
    for (const { block, original } of view.nodes[index]?.blocks ?? [])
      if (original && isBlock(block, 'tool_result'))
        for (const line of textOf(block).split('\n')) shown.add(withoutNumber(line))
  return shown
}

function textOf(result: ToolResultBlock): string {
  return toBlocks(result.content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
}
