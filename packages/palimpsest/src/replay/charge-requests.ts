import { breakpointNodes } from '../engine/build-request.ts'
import {
  chargeRequest,
  createCache,
  publishWrites,
  type CacheCharge,
  type CacheRequest,
} from '../ledger/cache.ts'
import { explainCharge, type CacheExplanation } from '../ledger/explain.ts'
import { priceOf } from '../ledger/prices.ts'
import { layPrompt, type Prompt, type PromptKey, type PromptPart } from '../ledger/prompt.ts'
import { isCacheable } from '../ledger/request-prompt.ts'
import type { Settled } from '../transcript/settle.ts'
import type { ViewBlock } from '../transcript/view-block.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import { hashText, type Hash } from '../wire/hash.ts'
import { isBlock, toBlocks, type Block } from '../wire/message.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import type { BackgroundCall } from './strategies/strategy.ts'

// The ledger's bill of a replayed conversation. Positions of messages that did not change are taken over from the request before, so a
// request costs what is new in it.

export interface ChargeOptions {
  readonly hiddenTokens: number
  readonly factor: number
}

export interface ChargedRequest {
  readonly view: View
  readonly settled: Settled
  readonly model: string
  readonly facts: ModelFacts
  readonly at: number
  readonly beganAt: number
  readonly ttl: '5m' | '1h'
  readonly outputTokens: number
}

export interface Bill {
  readonly charge: CacheCharge
  readonly explanation: CacheExplanation
  readonly inputTokens: number
  readonly dollars: number
}

export interface Biller {
  readonly charge: (request: ChargedRequest) => Bill
  /** A fork of the conversation as it stands, with something behind it. What it writes is not kept. */
  readonly chargeCall: (request: ChargedRequest, call: BackgroundCall) => number
}

/** Stands for system prompt, tools and instruction files: one position of the system level. */
export const HIDDEN_PROMPT = JSON.stringify([
  {
    type: 'text',
    text: 'System prompt, tools and instruction files of the recorded agent: not in the recording.',
  },
])

export function createBiller({ hiddenTokens, factor }: ChargeOptions): Biller {
  const cache = createCache()
  const hashes = new WeakMap<ViewBlock, Hash>()
  const hidden: PromptPart = {
    level: 'system',
    path: 'system.0',
    hash: hashText(HIDDEN_PROMPT.slice(1, -1)),
    tokens: hiddenTokens,
    cacheable: true,
  }
  let laid: Laid | undefined
  let earlier: CacheRequest | undefined
  const lay = (request: ChargedRequest): CacheRequest => {
    laid = layRequest(request, laid, { hidden, hashes, factor })
    return {
      at: request.at,
      prompt: laid.prompt,
      breakpoints: laid.breakpoints.map((index) => ({ index, ttl: request.ttl })),
      minimumTokens: request.facts.cacheMinimumTokens,
    }
  }
  return {
    charge(request) {
      const laidOut = lay(request)
      const charge = chargeRequest(cache, laidOut)
      const explanation = explainCharge(cache, laidOut, charge, earlier)
      publishWrites(cache, charge, request.beganAt)
      earlier = laidOut
      const dollars = priceOf({ ...charge, output: request.outputTokens }, request.facts.prices)
      return { charge, explanation, inputTokens: laidOut.prompt.tokens, dollars }
    },
    chargeCall(request, call) {
      const charge = chargeRequest(cache, lay(request))
      const billed = { ...charge, uncached: charge.uncached + call.promptTokens, output: call.outputTokens }
      return priceOf(billed, request.facts.prices)
    },
  }
}

/** A prompt, and where in it each node of the view ends. */
interface Laid {
  readonly prompt: Prompt
  readonly breakpoints: readonly number[]
  readonly blocks: readonly (readonly ViewBlock[])[]
  readonly ends: readonly number[]
  readonly model: string
  readonly images: number
}

interface LayOptions {
  readonly hidden: PromptPart
  readonly hashes: WeakMap<ViewBlock, Hash>
  readonly factor: number
}

function layRequest(
  { view, settled, model }: ChargedRequest,
  last: Laid | undefined,
  options: LayOptions,
): Laid {
  const images = countImages(settled)
  const usable = last?.model === model && last.images > 0 === images > 0 ? last : undefined
  const kept = usable ? commonNodes(usable.blocks, settled.blocks) : 0
  const keep = kept > 0 ? (usable?.ends[kept - 1] ?? 1) : 1
  const parts: PromptPart[] = usable ? [] : [options.hidden]
  const ends = usable ? usable.ends.slice(0, kept) : []
  let position = usable ? keep : 1
  for (let i = kept; i < settled.blocks.length; i++) {
    const ofNode = nodeParts(view.nodes[i], settled, i, options)
    parts.push(...ofNode)
    position += ofNode.length
    ends.push(position)
  }
  const prompt = layPrompt(keyOf(model, images > 0), parts, usable && { prompt: usable.prompt, keep })
  const marked = breakpointNodes(view, settled).map((node) => {
    const blocks = settled.blocks[node] ?? []
    const start = (ends[node] ?? 0) - blocks.length
    return start + blocks.findLastIndex(({ block }) => isCacheable(block))
  })
  return { prompt, breakpoints: [0, ...marked], blocks: [...settled.blocks], ends, model, images }
}

function nodeParts(
  node: ViewNode | undefined,
  settled: Settled,
  i: number,
  { hashes, factor }: LayOptions,
): PromptPart[] {
  if (!node || settled.texts[i] === '') return []
  const blocks = settled.blocks[i] ?? []
  const at = { level: 'messages', path: `messages.${i}` } as const
  if (blocks.length === 0)
    return [{ ...at, hash: hashText(`${node.role}${node.extras}`), tokens: 0, cacheable: false }]
  return blocks.map((block, j) => ({
    level: 'messages',
    path: `messages.${i}.content.${j}`,
    hash: hashOf(block, node.role, j === 0 ? node.extras : '', hashes),
    tokens: Math.round(block.tokens * factor),
    cacheable: isCacheable(block.block),
  }))
}

/** Lists of blocks are values: the same list means the same bytes. */
export function commonNodes(
  a: readonly (readonly ViewBlock[])[],
  b: readonly (readonly ViewBlock[])[],
): number {
  const length = Math.min(a.length, b.length)
  let common = 0
  while (common < length && a[common] === b[common]) common++
  return common
}

/** A block's role never changes; the members of its message stand with whichever block is first. */
function hashOf(block: ViewBlock, role: string, extras: string, hashes: WeakMap<ViewBlock, Hash>): Hash {
  if (extras !== '') return hashText(`${role}${extras}${block.json}`)
  const known = hashes.get(block)
  if (known) return known
  const hash = hashText(`${role}${block.json}`)
  hashes.set(block, hash)
  return hash
}

function keyOf(model: string, hasImages: boolean): PromptKey {
  return {
    tools: { model, betas: '' },
    system: { speed: '' },
    messages: { tool_choice: 'null', thinking: 'null', effort: '', images: hasImages ? 'present' : 'absent' },
  }
}

function countImages(settled: Settled): number {
  let images = 0
  for (const blocks of settled.blocks) for (const { block } of blocks) if (hasImage(block)) images++
  return images
}

function hasImage(block: Block): boolean {
  if (block.type === 'image') return true
  if (!isBlock(block, 'tool_result') || typeof block.content === 'string') return false
  return toBlocks(block.content).some((inner) => inner.type === 'image')
}
