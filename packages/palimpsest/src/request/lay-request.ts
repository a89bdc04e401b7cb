import { layPrompt, type LaidPrompt, type PromptKey, type PromptPart } from '../ledger/prompt.ts'
import { isCacheable } from '../ledger/request-prompt.ts'
import { droppedBefore, type Settled } from '../transcript/settle.ts'
import type { ViewBlock } from '../transcript/view-block.ts'
import { hashText, type Hash } from '../wire/hash.ts'
import { isBlock, isThinking, toBlocks, type Block } from '../wire/message.ts'
import type { BreakpointPlace } from './breakpoint-places.ts'

// From what is settled to the positions that the ledger uses, without serializing or parsing a body. What did not change since the previous
// request is taken from it.

/** What comes before the messages. The same value means the same bytes. */
export interface PromptHead {
  readonly key: PromptKey
  readonly parts: readonly PromptPart[]
  /** The part that carries a breakpoint; undefined if none does. */
  readonly breakpoint?: number | undefined
}

export interface RequestToLay {
  readonly settled: Pick<Settled, 'nodes' | 'texts' | 'blocks' | 'policy' | 'prompts'>
  readonly head: PromptHead
  readonly places: readonly BreakpointPlace[]
  /** Turns a raw estimate into tokens. */
  readonly toTokens: (raw: number) => number
}

export interface LaidRequest {
  readonly head: PromptHead
  readonly prompt: LaidPrompt
  /** Positions with a breakpoint, in order. */
  readonly breakpoints: readonly number[]
  readonly blocks: (readonly ViewBlock[])[]
  readonly nodes: LaidNode[]
  /** Thinking of nodes before this one is not in the prompt. */
  readonly dropped: number
}

/** How much there is up to and including a node. */
interface LaidNode {
  readonly positions: number
  readonly messages: number
  readonly images: number
}

/** Costs only what changed. The given `last` is used up: continue with the returned one. */
export function layRequest(request: RequestToLay, last?: LaidRequest): LaidRequest {
  const { settled, head, places } = request
  const dropped = droppedBefore(settled, settled.blocks.length)
  const kept = last?.head === head ? keptNodes(last, settled.blocks, dropped) : 0
  const { nodes, blocks }: Pick<LaidRequest, 'nodes' | 'blocks'> = last ?? { nodes: [], blocks: [] }
  nodes.length = kept
  blocks.length = kept
  const parts: PromptPart[] = kept > 0 ? [] : [...head.parts]
  for (let i = kept; i < settled.blocks.length; i++) {
    blocks.push(settled.blocks[i] ?? [])
    for (const part of layNode(request, nodes, { index: i, isDropped: i < dropped })) parts.push(part)
  }
  const key = keyOf(head, nodes)
  // With the first image, or without the last one, every message has another name.
  if (last && kept > 0 && last.prompt.key.messages['images'] !== key.messages['images'])
    return layRequest(request)
  const positions = last && kept > 0 ? last.prompt.positions : undefined
  const reuse = positions && { positions, keep: nodes[kept - 1]?.positions ?? 0 }
  const marked = places.map(({ node, block }) => {
    const before = (settled.blocks[node] ?? []).slice(0, block)
    const gone = node < dropped ? before.filter((one) => isThinking(one.block)).length : 0
    return (nodes[node - 1]?.positions ?? head.parts.length) + block - gone
  })
  const first = head.breakpoint === undefined ? [] : [head.breakpoint]
  const prompt = layPrompt(key, parts, reuse)
  return { head, prompt, breakpoints: [...first, ...marked], blocks, nodes, dropped }
}

/** How many nodes are laid as they would be now: up to the first that changed, or whose thinking left or returned. */
function keptNodes(last: LaidRequest, blocks: Settled['blocks'], dropped: number): number {
  const common = commonNodes(last.blocks, blocks)
  const [from, to] = [Math.min(last.dropped, dropped), Math.max(last.dropped, dropped)]
  for (let i = from; i < Math.min(to, common); i++)
    if (blocks[i]?.some(({ block }) => isThinking(block))) return i
  return common
}

/** Nodes are settled from the first changed one on, and a list of blocks is a value, so a binary search finds where the two differ. */
export function commonNodes(
  a: readonly (readonly ViewBlock[])[],
  b: readonly (readonly ViewBlock[])[],
): number {
  let high = Math.min(a.length, b.length)
  // Usually one continues where the other ends.
  let low = high > 0 && a[high - 1] === b[high - 1] ? high : 0
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (a[middle - 1] === b[middle - 1]) low = middle
    else high = middle - 1
  }
  return low
}

interface PlacedNode {
  readonly index: number
  readonly isDropped: boolean
}

function layNode(request: RequestToLay, nodes: LaidNode[], node: PlacedNode): PromptPart[] {
  const before = nodes[node.index - 1]
  const parts = nodeParts(request, node, before?.messages ?? 0)
  const blocks = request.settled.blocks[node.index] ?? []
  nodes.push({
    positions: (before?.positions ?? request.head.parts.length) + parts.length,
    messages: (before?.messages ?? 0) + (parts.length > 0 ? 1 : 0),
    images: (before?.images ?? 0) + blocks.filter(({ block }) => hasImage(block)).length,
  })
  return parts
}

function nodeParts(
  { settled, toTokens }: RequestToLay,
  { index, isDropped }: PlacedNode,
  message: number,
): PromptPart[] {
  const node = settled.nodes[index]
  if (!node || settled.texts[index] === '') return []
  const sent = settled.blocks[index] ?? []
  const blocks = isDropped ? sent.filter(({ block }) => !isThinking(block)) : sent
  const path = `messages.${message}`
  if (sent.length === 0) {
    const hash = hashText(`${node.role}${node.extras}`)
    return [{ level: 'messages', path, hash, tokens: 0, cacheable: false }]
  }
  return blocks.map((block, j) => ({
    level: 'messages',
    path: `${path}.content.${j}`,
    hash: hashOf(block, node.role, j === 0 ? node.extras : ''),
    tokens: toTokens(block.tokens),
    cacheable: isCacheable(block.block),
  }))
}

const hashes = new WeakMap<ViewBlock, { readonly role: string; readonly hash: Hash }>()

/** Other members of a message count with its first block. */
function hashOf(block: ViewBlock, role: string, extras: string): Hash {
  if (extras !== '') return hashText(`${role}${extras}${block.json}`)
  const known = hashes.get(block)
  if (known?.role === role) return known.hash
  const hash = hashText(`${role}${block.json}`)
  hashes.set(block, { role, hash })
  return hash
}

function keyOf({ key }: PromptHead, nodes: readonly LaidNode[]): PromptKey {
  const images = (nodes.at(-1)?.images ?? 0) > 0 ? 'present' : 'absent'
  return { ...key, messages: { ...key.messages, images } }
}

function hasImage(block: Block): boolean {
  if (block.type === 'image') return true
  if (!isBlock(block, 'tool_result') || typeof block.content === 'string') return false
  return toBlocks(block.content).some((inner) => inner.type === 'image')
}
