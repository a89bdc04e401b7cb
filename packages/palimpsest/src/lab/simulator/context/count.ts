import { canonicalText, hashBlock, type SizeOf } from '../../../ledger/request-prompt.ts'
import { hashText, type Hash } from '../../../wire/hash.ts'
import { isJsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks, type Block, type Role } from '../../../wire/message.ts'
import type { ModelFacts, TokenizerFamily } from '../../../wire/model-facts.ts'
import { mediaTokens } from './count-media.ts'

// The simulator's own token counter. It deliberately differs from the library's estimate, with pieces of words, a factor per model and
// noise per text, so that no estimate is right by construction. The same text, model and seed always give the same number: cache
// accounting depends on it.

const FAMILY_FACTOR: { readonly [family in TokenizerFamily]: number } = {
  'claude-4': 1,
  'claude-4-7': 1.3,
  o200k: 0.95,
  gemini: 0.97,
}

/** A model's deviation from its family, up to this many thousandths either way. */
const MODEL_SPREAD_PERMILLE = 30
/** One text's deviation, up to this many thousandths either way. */
const TEXT_SPREAD_PERMILLE = 20

/** Tokens that a block or a tool costs beyond its text. */
const BLOCK_OVERHEAD = 3
const TOOL_OVERHEAD = 12

/** Counts of texts are remembered by hash; above this many, all are forgotten. */
const REMEMBERED_MAX = 200_000

export interface Counter {
  readonly sizeOf: SizeOf
  /** Tokens of one block of a message, as `sizeOf` counts it in a request. */
  readonly blockTokens: (block: Block, role: Role) => number
  readonly textTokens: (text: string) => number
}

/** One token per character of what a block says, nothing for its frame: for examples with figures computed by hand. */
export function createCharacterCounter(): Counter {
  const blockTokens = (block: Block): number => saidBy(block).length
  return {
    sizeOf: ({ text, value }) => (isBlockLike(value) ? blockTokens(value) : text().length),
    blockTokens,
    textTokens: (text) => text.length,
  }
}

function saidBy(block: Block): string {
  if (isBlock(block, 'text')) return block.text
  if (isBlock(block, 'thinking')) return block.thinking
  if (isBlock(block, 'compaction')) return block.content ?? ''
  if (isBlock(block, 'tool_use')) return block.name + JSON.stringify(block.input)
  if (isBlock(block, 'tool_result')) return toBlocks(block.content).map(saidBy).join('')
  return ''
}

/** Raw counts by hash, shared by all models of one simulator. */
export type CountMemory = Map<Hash, number>

export function createCounter(facts: ModelFacts, seed: number, memory: CountMemory): Counter {
  const factor =
    FAMILY_FACTOR[facts.tokenizer] * (1 + spread(hashText(facts.id, seed), MODEL_SPREAD_PERMILLE))
  const scale = (raw: number, hash: Hash): number =>
    raw === 0 ? 0 : Math.max(1, Math.round(raw * factor * (1 + spread(hash, TEXT_SPREAD_PERMILLE, seed))))
  const remember = (hash: Hash, count: () => number): number => {
    const known = memory.get(hash)
    if (known !== undefined) return known
    const raw = count()
    if (memory.size >= REMEMBERED_MAX) memory.clear()
    memory.set(hash, raw)
    return raw
  }
  const sizeOf: SizeOf = ({ level, text, hash, value }) => {
    if (isCacheEdits(value)) return 0
    const isTool = level === 'tools'
    const raw = remember(hash, () => (isTool ? pieces(text()) : valuePieces(value, text)))
    return scale(raw, hash) + (isTool ? TOOL_OVERHEAD : BLOCK_OVERHEAD)
  }
  return {
    sizeOf,
    blockTokens: (block, role) => {
      const text = (): string => `${role}${canonicalText(block)}`
      return sizeOf({ level: 'messages', text, hash: hashBlock(block, role), value: block })
    },
    textTokens: (text) => scale(pieces(text), hashText(text)),
  }
}

function isCacheEdits(value: unknown): boolean {
  return isJsonObject(value) && value['type'] === 'cache_edits'
}

/** A deviation in [-permille, +permille] / 1000, fixed by the hash. */
function spread(hash: Hash, permille: number, seed = 0): number {
  const word = (Number.parseInt(hash.slice(0, 8), 16) ^ Math.imul(seed + 1, 0x9e3779b9)) >>> 0
  return ((word % (2 * permille + 1)) - permille) / 1000
}

function valuePieces(value: unknown, text: () => string): number {
  return isBlockLike(value) ? blockPieces(value) : pieces(text())
}

function blockPieces(block: Block): number {
  if (isBlock(block, 'text')) return pieces(block.text)
  if (isBlock(block, 'thinking')) return pieces(block.thinking)
  if (isBlock(block, 'tool_use')) return pieces(block.name) + pieces(JSON.stringify(block.input))
  if (isBlock(block, 'tool_result')) return nestedPieces(toBlocks(block.content))
  if (isBlock(block, 'compaction')) return pieces(block.content ?? '')
  if (isBlock(block, 'search_result')) return pieces(block.title) + nestedPieces(block.content)
  if (isBlock(block, 'image') || isBlock(block, 'document')) {
    const inner = block.source.content
    if (inner !== undefined) return nestedPieces(toBlocks(inner))
    return block.source.type === 'text' ? pieces(block.source.data ?? '') : mediaTokens(block)
  }
  return pieces(canonicalText(block))
}

function nestedPieces(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + blockPieces(block), 0)
}

function isBlockLike(value: unknown): value is Block {
  return isJsonObject(value) && typeof value['type'] === 'string'
}

const LETTER = 1
const CAPITAL = 2
const DIGIT = 3
const SPACE = 4
const MARK = 5
const WIDE = 6
/** Scripts without spaces begin at about this code; each of their characters is a piece. */
const WIDE_FROM = 0x2e80

/** Weights are in sixteenths of a piece. */
const PIECE = 16
/** What a character adds when it begins a run of its kind, and when it continues one. A single space belongs to the word after it. */
const WEIGHTS: { readonly [kind: number]: readonly [begins: number, goesOn: number] } = {
  [LETTER]: [15, 2],
  [CAPITAL]: [15, 3],
  [DIGIT]: [14, 5],
  [SPACE]: [0, 3],
  [MARK]: [14, 8],
  [WIDE]: [PIECE, PIECE],
}

const KINDS = Uint8Array.from({ length: 0x10000 }, (_, code) => kindOf(code))
const WEIGHT_BY_PAIR = Uint8Array.from({ length: 64 }, (_, pair) => weightOf(pair >> 3, pair & 7))

/** Pieces of a text, in one pass without branches: large requests spend their time here. */
export function pieces(text: string): number {
  let weight = 0
  let last = 0
  for (let i = 0; i < text.length; i++) {
    const kind = KINDS[text.charCodeAt(i)] ?? MARK
    weight += WEIGHT_BY_PAIR[(last << 3) | kind] ?? 0
    last = kind
  }
  return Math.ceil(weight / PIECE)
}

function weightOf(last: number, kind: number): number {
  const [begins, goesOn] = WEIGHTS[kind] ?? [0, 0]
  const isSameWord = last === CAPITAL && kind === LETTER
  return last === kind || isSameWord ? goesOn : begins
}

function kindOf(code: number): number {
  if (code >= 128) return code < WIDE_FROM ? LETTER : WIDE
  if (code === 32 || (code >= 9 && code <= 13)) return SPACE
  if (code >= 48 && code <= 57) return DIGIT
  if (code >= 65 && code <= 90) return CAPITAL
  return code >= 97 && code <= 122 ? LETTER : MARK
}
