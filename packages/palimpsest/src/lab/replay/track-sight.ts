import type { Settled } from '../../transcript/settle.ts'
import type { ViewBlock } from '../../transcript/view-block.ts'
import { blockKey } from '../../transcript/view.ts'
import { isBlock, isThinking } from '../../wire/message.ts'
import { blockText } from './measure/block-text.ts'
import type { Corpus } from './measure/corpus.ts'
import type { ExcerptFinder } from './measure/excerpts.ts'
import type { Measured } from './measure/score.ts'
import { makePage, wholePage, type MadeText, type Sight } from './measure/sight.ts'
import type { ReplaySession } from './replay-session.ts'

// From what is sent to what the measure sees: which blocks of the history are in the request as recorded, and which of its text nobody
// recorded. Only what changed is updated.

export interface SightTracker {
  /** The current request; its first `keptNodes` nodes are unchanged since the last call. */
  readonly look: (settled: Settled, keptNodes: number) => Look
}

export interface Look {
  readonly sight: Sight
  /** Estimated tokens, before calibration: of everything sent, and of what a strategy made. */
  readonly rawTokens: number
  readonly madeRaw: number
  /** Of the made text: recorded text that it repeats in pieces. */
  readonly excerptRaw: number
}

interface SeenNode {
  readonly blocks: readonly number[]
  readonly made: readonly MadeText[]
  readonly raw: number
  readonly madeRaw: number
  readonly excerptRaw: number
}

export function createSightTracker(
  session: ReplaySession,
  { corpus, excerpts }: Pick<Measured, 'corpus' | 'excerpts'>,
): SightTracker {
  const recorded = new Set(session.entries.map((entry) => entry.id))
  const visible = new Uint8Array(corpus.blocks.length)
  const nodes: SeenNode[] = []
  const seen = new WeakMap<ViewBlock, MadeText>()
  const shows = (line: number): boolean => visible[corpus.lineBlocks[line] ?? -1] === 1
  return {
    look(settled, keptNodes) {
      for (const node of nodes.splice(keptNodes)) for (const block of node.blocks) visible[block] = 0
      for (const blocks of settled.blocks.slice(keptNodes)) {
        const node = readNode(blocks, { corpus, excerpts, recorded, seen })
        for (const block of node.blocks) visible[block] = 1
        nodes.push(node)
      }
      return {
        sight: { shows, made: nodes.flatMap((node) => node.made) },
        rawTokens: nodes.reduce((sum, node) => sum + node.raw, 0),
        madeRaw: nodes.reduce((sum, node) => sum + node.madeRaw, 0),
        excerptRaw: nodes.reduce((sum, node) => sum + node.excerptRaw, 0),
      }
    },
  }
}

function readNode(
  blocks: readonly ViewBlock[],
  known: {
    readonly corpus: Corpus
    readonly excerpts: ExcerptFinder
    readonly recorded: ReadonlySet<string>
    readonly seen: WeakMap<ViewBlock, MadeText>
  },
): SeenNode {
  const shown: number[] = []
  const made: MadeText[] = []
  let raw = 0
  let madeRaw = 0
  let excerptRaw = 0
  for (const block of blocks) {
    raw += block.tokens
    if (isThinking(block.block)) continue
    if (block.original && known.recorded.has(block.at.entry)) {
      const index = known.corpus.blockByKey.get(blockKey(block.at))
      if (index !== undefined) shown.push(index)
      continue
    }
    madeRaw += block.tokens
    const text = madeTextOf(block, known.seen)
    made.push(text)
    const chars = Math.max(1, text.page.text.length)
    excerptRaw += (block.tokens * known.excerpts.charsIn(text.page)) / chars
  }
  return { blocks: shown, made, raw, madeRaw, excerptRaw }
}

/** Blocks are immutable, so each text is read once. */
function madeTextOf(block: ViewBlock, seen: WeakMap<ViewBlock, MadeText>): MadeText {
  const known = seen.get(block)
  if (known) return known
  const made = wholePage(makePage(blockText(block.block), isBlock(block.block, 'tool_result')))
  seen.set(block, made)
  return made
}
