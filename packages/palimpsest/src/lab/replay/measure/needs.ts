import { isBlock } from '../../../wire/message.ts'
import type { ReplaySession } from '../replay-session.ts'
import { leaves } from './block-text.ts'
import { blockOfLine, historyBefore, type Corpus, type CorpusBlock } from './corpus.ts'
import { extractQuoted, extractTokens, type Token, type TokenClass } from './extract.ts'
import type { Finder } from './occurrences.ts'
import { findProjectRoot, namedPath } from './project-root.ts'
import { fileChanges, keyArgument, linesToEdit, textsToEdit } from './tool-call.ts'

// What each recorded step used, and where in the history before it that was. Computed with hindsight, once per session, and never
// shown to a strategy.

export interface Reference {
  readonly class: TokenClass
  readonly needle: string
  /** Every line that contains it, ascending; the first `before` of them are in the step's history. */
  readonly lines: readonly number[]
  readonly before: number
  /** Only the environment ever said it: no user, and no earlier answer or call. */
  readonly sole: boolean
  /** The user said it. */
  readonly user: boolean
  /** A file that its newest source is about has changed since. Counted like any other; reports show the share. */
  readonly stale: boolean
}

export interface EditLine {
  readonly needle: string
  readonly lines: readonly number[]
  readonly before: number
}

/** A text that an edit expects to find, and that the history contains in one piece. */
export interface EditText {
  readonly text: string
  /** First lines of the places where it is complete, ascending, in the step's history only. */
  readonly places: readonly number[]
  /** Its number of lines. */
  readonly length: number
}

export interface StepNeeds {
  readonly references: readonly Reference[]
  readonly editLines: readonly EditLine[]
  readonly editTexts: readonly EditText[]
  /** Distinctive tokens of the step that appear nowhere before it: made up, or known from elsewhere. */
  readonly novel: number
  readonly blocksBefore: number
  readonly linesBefore: number
}

/** Shorter lines (`}`, `else {`, `return nil`) are everywhere and prove nothing. */
const EDIT_LINE_LETTERS_MIN = 8

export function findNeeds(session: ReplaySession, corpus: Corpus, finder: Finder): StepNeeds[] {
  const root = findProjectRoot(callPaths(corpus))
  const changes = findChanges(corpus, root)
  const outputs = outputBlocks(session, corpus)
  return session.steps.map((step) => {
    const { blocks, lines } = historyBefore(corpus, step.from)
    const output = outputs.get(step.responseId) ?? []
    const found = distinctNeedles(output, root).map(({ class: name, text }) =>
      toReference({ class: name, needle: text, before: lines }, corpus, finder, changes),
    )
    const references = found.filter((reference) => reference.before > 0)
    return {
      references,
      editLines: editNeedles(output).flatMap((needle) => {
        const where = finder.linesWith(needle)
        const before = countBefore(where, lines)
        return before > 0 ? [{ needle, lines: where, before }] : []
      }),
      editTexts: wholeTexts(output).flatMap((text) => toEditText(text, lines, corpus, finder)),
      novel: found.length - references.length,
      blocksBefore: blocks,
      linesBefore: lines,
    }
  })
}

/** How many of the ascending lines come before a limit. */
export function countBefore(lines: readonly number[], limit: number): number {
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lines[middle] ?? limit) < limit) low = middle + 1
    else high = middle
  }
  return low
}

function toReference(
  { class: name, needle, before: limit }: { class: TokenClass; needle: string; before: number },
  corpus: Corpus,
  finder: Finder,
  changes: ReadonlyMap<string, readonly number[]>,
): Reference {
  const lines = finder.linesWith(needle)
  const before = countBefore(lines, limit)
  let sole = before > 0
  let user = false
  for (let i = 0; i < before && (sole || !user); i++) {
    const kind = blockOfLine(corpus, lines[i] ?? -1)?.kind
    sole &&= kind === 'result'
    user ||= kind === 'user'
  }
  const stale = sole && isStale(corpus, lines[before - 1] ?? -1, limit, changes)
  return { class: name, needle, lines, before, sole, user, stale }
}

function isStale(
  corpus: Corpus,
  line: number,
  limit: number,
  changes: ReadonlyMap<string, readonly number[]>,
): boolean {
  const source = blockOfLine(corpus, line)
  const call = source && isBlock(source.block, 'tool_result') ? source.block.tool_use_id : ''
  const changed = changes.get(call) ?? []
  return changed.some((at) => at > line && at < limit)
}

/** For each call that read a file: the first lines of later calls that changed it. */
function findChanges(corpus: Corpus, root: string): Map<string, readonly number[]> {
  const readers = new Map<string, { readonly path: string; readonly at: number }>()
  const changed = new Map<string, number[]>()
  for (const { block, firstLine } of corpus.blocks) {
    if (!isBlock(block, 'tool_use')) continue
    readers.set(block.id, { path: namedPath(keyArgument(block), root), at: firstLine })
    for (const { path } of fileChanges(block)) {
      const name = namedPath(path, root)
      changed.set(name, [...(changed.get(name) ?? []), firstLine])
    }
  }
  return new Map(
    [...readers].flatMap(([id, { path, at }]) => {
      const later = changed.get(path)?.filter((line) => line > at) ?? []
      return later.length > 0 ? [[id, later] as const] : []
    }),
  )
}

function outputBlocks(session: ReplaySession, corpus: Corpus): Map<string, CorpusBlock[]> {
  const outputs = new Map<string, CorpusBlock[]>()
  for (const block of corpus.blocks) {
    if (block.kind !== 'answer' && block.kind !== 'call') continue
    const entry = session.entries[block.entry]
    const id = entry?.responseId ?? entry?.id ?? ''
    const known = outputs.get(id)
    if (known) known.push(block)
    else outputs.set(id, [block])
  }
  return outputs
}

function distinctNeedles(output: readonly CorpusBlock[], root: string): Token[] {
  const found = new Map<string, Token>()
  for (const token of output.flatMap(({ block }) => outputTokens(block))) {
    const text = token.class === 'path' ? namedPath(token.text, root) : token.text
    if (!found.has(text)) found.set(text, { ...token, text })
  }
  return [...found.values()]
}

function outputTokens(block: CorpusBlock['block']): Token[] {
  if (isBlock(block, 'text')) return extractTokens(block.text)
  if (!isBlock(block, 'tool_use')) return []
  return leaves(block.input).flatMap((text) => {
    const tokens = extractTokens(text)
    return [...tokens, ...extractQuoted(text, tokens)]
  })
}

function editNeedles(output: readonly CorpusBlock[]): string[] {
  const lines = output.flatMap(({ block }) => (isBlock(block, 'tool_use') ? linesToEdit(block) : []))
  const telling = lines.map((line) => line.trim()).filter(isTelling)
  return [...new Set(telling)]
}

function isTelling(text: string): boolean {
  return text.replace(/[^A-Za-z0-9]/g, '').length >= EDIT_LINE_LETTERS_MIN
}

/** Blank lines and spaces around a text are not part of what had to be known. */
function wholeTexts(output: readonly CorpusBlock[]): string[] {
  const texts = output.flatMap(({ block }) => (isBlock(block, 'tool_use') ? textsToEdit(block) : []))
  return [...new Set(texts.map((text) => text.trim()).filter(isTelling))]
}

function toEditText(text: string, limit: number, corpus: Corpus, finder: Finder): EditText[] {
  const length = text.split('\n').length
  const blockOf = (line: number): number => corpus.lineBlocks[line] ?? -1
  const places = finder
    .linesWith(text)
    .filter((line) => line + length <= limit && blockOf(line) === blockOf(line + length - 1))
  return places.length > 0 ? [{ text, places, length }] : []
}

function callPaths(corpus: Corpus): string[] {
  return corpus.blocks.flatMap(({ block }) =>
    isBlock(block, 'tool_use') ? leaves(block.input).filter((text) => /^\/[\w./@+-]+$/.test(text)) : [],
  )
}
