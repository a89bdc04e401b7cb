import type { MessageEntry } from '../../../transcript/entry.ts'
import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'
import { blockText } from './block-text.ts'

// The whole recorded history as one text: blocks in order, each a range of lines. A place in a session is a line of this text. The
// corpus is built once per session; every strategy and control is judged by which of these lines it still shows.

/** `result`: what the environment said (tools, web, attached files). `other`: hooks, memory, the agent's own notes. */
export type BlockKind = 'user' | 'answer' | 'call' | 'result' | 'other'

export interface CorpusBlock {
  readonly key: string
  readonly kind: BlockKind
  readonly block: Block
  /** Index of the block's entry. */
  readonly entry: number
  /** The block's lines: `firstLine` inclusive, `endLine` exclusive. */
  readonly firstLine: number
  readonly endLine: number
  /** Estimated tokens, before calibration. */
  readonly tokens: number
}

export interface Corpus {
  readonly text: string
  readonly blocks: readonly CorpusBlock[]
  readonly blockByKey: ReadonlyMap<string, number>
  /** Offset at which each line begins, plus one more for the end. */
  readonly lineStarts: Int32Array
  readonly lineBlocks: Int32Array
  /** First block of each entry, plus one more for the end. */
  readonly entryBlocks: Int32Array
}

/** Raw tokens of the blocks that an unmanaged view sends, by key. Blocks that it does not send are not part of the history. */
export type SentBlocks = ReadonlyMap<string, number>

export function buildCorpus(entries: readonly MessageEntry[], sent: SentBlocks): Corpus {
  const blocks: CorpusBlock[] = []
  const blockByKey = new Map<string, number>()
  const texts: string[] = []
  const lineStarts: number[] = []
  const lineBlocks: number[] = []
  const entryBlocks: number[] = []
  let at = 0
  entries.forEach((entry, entryIndex) => {
    entryBlocks.push(blocks.length)
    toBlocks(entry.message.content).forEach((block, index) => {
      const key = `${entry.id}:${index}`
      const tokens = sent.get(key)
      if (tokens === undefined) return
      const firstLine = lineStarts.length
      for (const line of linesOf(block)) {
        lineStarts.push(at)
        lineBlocks.push(blocks.length)
        texts.push(line)
        at += line.length + 1
      }
      blockByKey.set(key, blocks.length)
      const kind = kindOf(entry, block)
      blocks.push({ key, kind, block, entry: entryIndex, firstLine, endLine: lineStarts.length, tokens })
    })
  })
  entryBlocks.push(blocks.length)
  return {
    text: texts.join('\n'),
    blocks,
    blockByKey,
    lineStarts: Int32Array.from([...lineStarts, at]),
    lineBlocks: Int32Array.from(lineBlocks),
    entryBlocks: Int32Array.from(entryBlocks),
  }
}

export function lineText(corpus: Corpus, line: number): string {
  return corpus.text.slice(corpus.lineStarts[line], (corpus.lineStarts[line + 1] ?? 0) - 1)
}

/** The line that contains an offset of the text. */
export function lineAt(corpus: Corpus, at: number): number {
  let low = 0
  let high = corpus.lineBlocks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((corpus.lineStarts[middle] ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return low
}

export function blockOfLine(corpus: Corpus, line: number): CorpusBlock | undefined {
  return corpus.blocks[corpus.lineBlocks[line] ?? -1]
}

/** How many blocks and lines come before an entry: the history of a step that begins there. */
export function historyBefore(
  corpus: Corpus,
  entry: number,
): { readonly blocks: number; readonly lines: number } {
  const blocks = corpus.entryBlocks[entry] ?? corpus.blocks.length
  return { blocks, lines: corpus.blocks[blocks]?.firstLine ?? corpus.lineBlocks.length }
}

/** The line numbers that a file reader puts before each line; they are not part of the file. */
const GUTTER = /^\s*\d+(?:→|\t|\| |: )/

/** A line without a reader's line number. */
export function withoutGutter(line: string): string {
  return line.replace(GUTTER, '')
}

/** Smallest share of the non-blank lines with a number; fewer may have one by chance. */
const GUTTER_SHARE_MIN = 0.6

function linesOf(block: Block): string[] {
  const lines = blockText(block).split('\n')
  if (!isBlock(block, 'tool_result')) return lines
  const numbered = lines.filter((line) => GUTTER.test(line)).length
  const written = lines.filter((line) => line.trim() !== '').length
  return numbered > 0 && numbered >= written * GUTTER_SHARE_MIN ? lines.map(withoutGutter) : lines
}

function kindOf(entry: MessageEntry, block: Block): BlockKind {
  if (isBlock(block, 'tool_use')) return 'call'
  if (isBlock(block, 'tool_result')) return 'result'
  switch (entry.origin) {
    case 'user':
      return 'user'
    case 'model':
      return 'answer'
    case 'tool':
    case 'web':
    case 'mcp':
      return 'result'
    case 'memory':
    case 'recall':
    case 'hook':
    case 'peer':
    case 'engine':
      return 'other'
    default:
      return entry.origin satisfies never
  }
}
