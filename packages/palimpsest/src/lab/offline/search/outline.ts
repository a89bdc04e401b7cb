import { splitIdentifier } from '../words/split-identifier.ts'
import { stem } from '../words/stem.ts'
import { findDefinition, type DefinitionKind } from './find-definition.ts'
import { lineShape, type LineShape } from './line-shape.ts'

// What we know about a file, line by line: kind, words, enclosing line. Lines may be missing. Nothing is parsed: indentation shows what
// belongs to what, so any language works.

export interface KnownLine {
  /** Counted from 1. */
  readonly number: number
  readonly text: string
}

export type LineKind =
  | 'blank'
  | 'code'
  | 'definition'
  /** A signature without a body. */
  | 'signature'
  | 'type'
  /** A `Symbol`: it has nothing but a name. */
  | 'symbol'
  | 'comment'
  | 'doc'
  | 'example'
  | 'import'
  | 'bracket'

export interface OutlineLine extends KnownLine {
  readonly kind: LineKind
  /** Index of the line that encloses this one; −1 at the top. */
  readonly parent: number
  /** For a comment, the index of the code below it; otherwise −1. */
  readonly about: number
  /** Indexes of its words, each once. */
  readonly words: readonly number[]
  /** Stems in order. */
  readonly stems: readonly string[]
  readonly shape: LineShape
  readonly definition?: Definition
}

export interface Definition {
  /** In lower case, without leading underscores. */
  readonly name: string
  readonly word: number
  readonly kind: DefinitionKind
}

/** An identifier, a word or an operator. */
export interface CodeWord {
  /** In lower case, without leading underscores. */
  readonly name: string
  readonly parts: readonly string[]
}

export interface Outline {
  readonly path: string
  readonly lines: readonly OutlineLine[]
  readonly words: readonly CodeWord[]
}

/** Longer lines are data, so only their beginning is read. */
const LINE_CHARS_MAX = 600
const WORD = /[A-Za-z_$][\w$]*|\d+/g

export function toOutline(path: string, known: readonly KnownLine[]): Outline {
  const words: CodeWord[] = []
  const index = new Map<string, number>()
  const indexOf = (raw: string): number => {
    const had = index.get(raw)
    if (had !== undefined) return had
    index.set(raw, words.length)
    words.push(toWord(raw))
    return words.length - 1
  }
  const kinds = readKinds(path, known)
  const parents = findParents(known, kinds)
  const about = findAbout(known, kinds)
  const lines = known.map((line, i): OutlineLine => {
    const text = line.text.slice(0, LINE_CHARS_MAX)
    const kind = kinds[i] ?? { kind: 'code' }
    const shape = lineShape(text.trim())
    const inOrder = (text.match(WORD) ?? []).map(indexOf)
    const operators = isRemark(kind.kind) ? [] : shape.operators.map(indexOf)
    const found = kind.definition
    return {
      ...line,
      kind: kind.kind,
      parent: parents[i] ?? -1,
      about: about[i] ?? -1,
      words: [...new Set([...inOrder, ...operators])],
      stems: inOrder.flatMap((word) => words[word]?.parts ?? []),
      shape,
      ...(found
        ? { definition: { name: bare(found.name), word: indexOf(found.name), kind: found.kind } }
        : {}),
    }
  })
  return { path, lines, words }
}

export function isRemark(kind: LineKind): boolean {
  return kind === 'comment' || kind === 'doc' || kind === 'example'
}

const memory = new Map<string, CodeWord>()
/** Code has few different words, but memory must stay bounded. */
const MEMORY_MAX = 50_000

function toWord(raw: string): CodeWord {
  const known = memory.get(raw)
  if (known) return known
  const word = splitWord(raw)
  if (memory.size < MEMORY_MAX) memory.set(raw, word)
  return word
}

function splitWord(raw: string): CodeWord {
  if (!/\w/.test(raw)) return { name: raw, parts: [raw] }
  // In many code bases a leading `k` marks a symbol.
  const parts = splitIdentifier(raw)
    .map(stem)
    .filter((part) => part !== 'k')
  return { name: bare(raw), parts }
}

function bare(name: string): string {
  return name.toLowerCase().replace(/^[_$#]+/, '')
}

interface LineKindFound {
  readonly kind: LineKind
  readonly definition?: { readonly name: string; readonly kind: DefinitionKind }
}

function readKinds(path: string, known: readonly KnownLine[]): readonly LineKindFound[] {
  const isProse = /\.(?:md|mdx|txt|rst)$/.test(path)
  let inBlock = false
  let inExample = false
  return known.map((line, i) => {
    const text = line.text.trim()
    const isOpening = text.startsWith('/*')
    // A comment that began in unknown lines is recognized by its stars.
    const isDoc = !isProse && (inBlock || isOpening || /^\*(?:\s|\/|$)/.test(text))
    inExample = isDoc && (inExample || /@example|^\*\s*```|## Example/.test(text))
    const kind = inExample ? 'example' : 'doc'
    inBlock = (inBlock || isOpening) && !text.includes('*/')
    inExample &&= inBlock
    return isDoc ? { kind } : readCode(text, isProse, known, i)
  })
}

const IMPORT =
  /^import\b|^from \S+ import\b|^export\s+(?:\*|\{.*\}\s*from)|=\s*require\(|^use [\w:]+;|^#include\b/
const BRACKET = /^[\])};,\s]+$|^\}?\s*(?:else|finally|try|do)\s*\{$|^\)\s*[:{]/

function readCode(text: string, isProse: boolean, known: readonly KnownLine[], i: number): LineKindFound {
  if (text === '') return { kind: 'blank' }
  if (!isProse && /^(?:\/\/|--\s|#(?![\w$]+\s*[=({]))/.test(text)) return { kind: 'comment' }
  if (IMPORT.test(text)) return { kind: 'import' }
  if (BRACKET.test(text)) return { kind: 'bracket' }
  const definition = findDefinition(text, isProse)
  if (!definition) return { kind: 'code' }
  if (definition.kind === 'type') return { kind: 'type', definition }
  if (/=\s*Symbol\(/.test(text)) return { kind: 'symbol', definition }
  if (definition.kind === 'function' && isSignature(known, i)) return { kind: 'signature', definition }
  return { kind: 'definition', definition }
}

/** A signature may span this many lines before it shows whether a body follows. */
const SIGNATURE_LINES_MAX = 14

function isSignature(known: readonly KnownLine[], start: number): boolean {
  const indent = indentOf(known[start]?.text ?? '')
  for (let i = start; i < Math.min(known.length, start + SIGNATURE_LINES_MAX); i++) {
    const text = known[i]?.text.trimEnd() ?? ''
    const isOutmost = i === start || indentOf(text) <= indent
    if (isOutmost && /[{:]$/.test(text) && (i === start || /^\s*\)/.test(text))) return false
    if (isOutmost && text.endsWith(';')) return !text.includes('{') && !text.includes('=>')
    if (i > start && isOutmost && !/^\s*[)\]}>]/.test(text)) return false
  }
  return false
}

/** −1 for a blank line. */
function indentOf(text: string): number {
  return text.search(/\S/)
}

function findParents(known: readonly KnownLine[], kinds: readonly LineKindFound[]): readonly number[] {
  const open: number[] = []
  const indents = known.map(({ text }) => indentOf(text))
  return known.map(({ text }, i) => {
    const indent = indents[i] ?? -1
    const kind = kinds[i]?.kind ?? 'code'
    if (indent < 0) return open.at(-1) ?? -1
    if (isRemark(kind)) {
      const own = text.trimStart().startsWith('*') ? indent - 1 : indent
      return open.findLast((other) => (indents[other] ?? 0) < own) ?? -1
    }
    // A line that begins with a closing bracket continues what was opened: an `else` is inside its `if`.
    const isContinuation = /^\s*[\])}]/.test(text)
    const isOutside = (other: number): boolean =>
      isContinuation ? (indents[other] ?? 0) > indent : (indents[other] ?? 0) >= indent
    while (open.length > 0 && isOutside(open.at(-1) ?? -1)) open.pop()
    const parent = open.at(-1) ?? -1
    if (!isContinuation) open.push(i)
    return parent
  })
}

/** The code below each comment, if no blank line and no gap separates them. */
function findAbout(known: readonly KnownLine[], kinds: readonly LineKindFound[]): readonly number[] {
  const about: number[] = []
  let below = -1
  for (let i = known.length - 1; i >= 0; i--) {
    const kind = kinds[i]?.kind ?? 'code'
    if ((known[i + 1]?.number ?? 0) !== (known[i]?.number ?? 0) + 1) below = -1
    if (isRemark(kind)) about[i] = below
    else {
      about[i] = -1
      below = kind === 'blank' ? -1 : i
    }
  }
  return about
}
