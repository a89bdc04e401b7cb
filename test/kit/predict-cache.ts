import {
  chargeRequest,
  createCache,
  explainCharge,
  layPrompt,
  publishWrites,
  quoteRequest,
  type Breakpoint,
  type Cache,
  type CacheExplanation,
  type CacheRequest,
  type Prompt,
  type PromptPart,
  type Ttl,
} from '../../packages/palimpsest/src/ledger/index.ts'
import type {
  RecordedResponse,
  RecordedSession,
} from '../../packages/palimpsest/src/lab/replay/read/recorded-session.ts'
import type { Entry, EntryId } from '../../packages/palimpsest/src/transcript/entry.ts'
import type { ViewBlock } from '../../packages/palimpsest/src/transcript/view-block.ts'
import { emptyView, step, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import { hashText, type Hash } from '../../packages/palimpsest/src/wire/hash.ts'
import { isBlock, isThinking } from '../../packages/palimpsest/src/wire/message.ts'
import { findModelFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import { promptTokens, type Usage } from '../../packages/palimpsest/src/wire/usage.ts'

// What the ledger says a recorded request must have read from the cache. The ledger sees what the recorded client could see before it
// sent the request: the blocks of the conversation, the time, and the entries that earlier requests left. It never sees how much
// this request read. Sizes of positions are no guess of ours: where a request's cached part ended is known from its own usage.

export interface PredictedRequest {
  readonly response: RecordedResponse
  /** Tokens read from the cache, as the ledger says and as the provider reported. */
  readonly predicted: number
  readonly reported: number
  /** What the ledger says if the client had sent one more request, right behind the answer before this one, that is not in the file. */
  readonly withSideRequest: number
  /** Where the cached part of this request ended, and of those before it, newest first. */
  readonly end: number
  readonly earlierEnds: readonly number[]
  /** Size of the first prompt's hidden part. */
  readonly hidden: number
  readonly explanation: CacheExplanation
  readonly between: Between
}

/** What the file shows between the request before and this one. */
export interface Between {
  /** A compaction. */
  readonly boundary: boolean
  /** A clearing of old results. */
  readonly clearing: boolean
  /** The user left the client and came back, or went on from an earlier message. */
  readonly restart: boolean
  /** The client put in a text of its own, as it does for a skill. */
  readonly clientText: boolean
  /** Undefined for the first request. */
  readonly gapMs: number | undefined
  readonly modelChanged: boolean
}

/** Tokens behind the last breakpoint that are no block: the frame in which the answer begins. */
const FRAME_TOKENS_MAX = 64

/** Characters per token, and an image's size, only to share known sums among blocks. */
const CHARS_PER_TOKEN = 3
const IMAGE_CHARS = 4500

/** Earlier ends that a request may fall back to. */
const ENDS_MAX = 20

const HIDDEN = { level: 'system', path: 'system.0', hash: hashText('hidden first prompt') } as const

interface State {
  readonly cache: Cache
  /** Tokens up to positions where a request's cached part ended, by the position's hash. */
  readonly ends: Map<Hash, number>
  readonly blockHashes: WeakMap<ViewBlock, Hash>
  earlier: { readonly request: CacheRequest; readonly response: RecordedResponse } | undefined
  earlierEnds: readonly number[]
  ttl: Ttl
}

export function predictCache(session: RecordedSession): PredictedRequest[] {
  const responses = new Map(session.responses.map((response) => [response.id, response]))
  const forks = new Set(session.branches.map((branch) => branch.from))
  const state: State = {
    cache: createCache(),
    ends: new Map(),
    blockHashes: new WeakMap(),
    earlier: undefined,
    earlierEnds: [],
    ttl: '5m',
  }
  const predicted: PredictedRequest[] = []
  let view = emptyView()
  let between = NOTHING
  for (const entry of session.entries) {
    const response = entry.kind === 'message' ? responses.get(entry.responseId ?? '') : undefined
    if (response?.usage && response.entries[0] === entry.id) {
      predicted.push(predictRequest(state, view, response, between))
      between = NOTHING
    }
    between = { ...between, ...shown(entry, forks) }
    view = step(view, entry)
  }
  return predicted
}

type Shown = Omit<Between, 'gapMs' | 'modelChanged'>

const NOTHING: Shown = { boundary: false, clearing: false, restart: false, clientText: false }

function shown(entry: Entry, forks: ReadonlySet<EntryId | null>): Partial<Shown> {
  if (entry.kind === 'boundary') return { boundary: true }
  if (entry.kind === 'other') return { clearing: true }
  if (entry.kind !== 'message') return {}
  const left = entry.json.includes('<command-name>/exit</command-name>')
  const ofClient = entry.origin === 'engine' && entry.part === undefined
  return {
    ...((left || forks.has(entry.id)) && { restart: true }),
    ...(ofClient && !entry.json.includes('<local-command-caveat>') && { clientText: true }),
  }
}

function predictRequest(
  state: State,
  view: View,
  response: RecordedResponse,
  shownBetween: Shown,
): PredictedRequest {
  const usage = response.usage ?? { input_tokens: 0, output_tokens: 0 }
  const { earlier, earlierEnds } = state
  const reported = usage.cache_read_input_tokens ?? 0
  const end = reported + (usage.cache_creation_input_tokens ?? 0)
  state.ttl = ttlOf(usage) ?? state.ttl
  const blocks = sentBlocks(view, response.model)
  const laid = layBlocks(state, blocks, response.model)
  const { prompt, breakpoint } = sized(state, laid, blocks, { end, total: promptTokens(usage) })
  const request: CacheRequest = {
    at: response.requestedAt,
    prompt,
    breakpoints: breakpointsAt(breakpoint, state.ttl),
    minimumTokens: findModelFacts(response.model)?.cacheMinimumTokens ?? 0,
  }
  const answerAt = blocks.findLastIndex((block) => block.role === 'assistant') + 1
  const withSideRequest = quoteBehindSideRequest(state, request, answerAt)
  const charge = chargeRequest(state.cache, request)
  const explanation = explainCharge(state.cache, request, charge, earlier?.request)
  publishWrites(state.cache, charge, response.at)
  rememberEnd(state, prompt, breakpoint, end)
  state.earlier = { request, response }
  state.earlierEnds = [end, ...earlierEnds].slice(0, ENDS_MAX)
  return {
    response,
    predicted: Math.round(charge.read),
    reported,
    withSideRequest: Math.round(withSideRequest),
    end,
    earlierEnds,
    hidden: prompt.positions[0]?.tokens ?? 0,
    explanation,
    between: {
      ...shownBetween,
      gapMs: earlier && response.requestedAt - earlier.response.requestedAt,
      modelChanged: earlier !== undefined && earlier.response.model !== response.model,
    },
  }
}

function breakpointsAt(index: number, ttl: Ttl): Breakpoint[] {
  return index > 0
    ? [
        { index: 0, ttl },
        { index, ttl },
      ]
    : [{ index: 0, ttl }]
}

/** The ledger's word after one more request that ended with the last answer. The state stays as it is. */
function quoteBehindSideRequest(state: State, request: CacheRequest, answerAt: number): number {
  const cache: Cache = { entries: new Map(state.cache.entries) }
  const answered = state.earlier?.response.endedAt
  if (answered === undefined || answerAt === 0) return quoteRequest(cache, request).read
  const side: CacheRequest = {
    ...request,
    at: answered,
    prompt: { ...request.prompt, positions: request.prompt.positions.slice(0, answerAt + 1) },
    breakpoints: breakpointsAt(answerAt, state.ttl),
  }
  publishWrites(cache, chargeRequest(cache, side), answered)
  return quoteRequest(cache, request).read
}

interface SentBlock {
  readonly role: string
  readonly block: ViewBlock
}

/** Models that do not keep thinking across turns never see that of earlier turns. */
function sentBlocks(view: View, model: string): SentBlock[] {
  const keeps = findModelFacts(model)?.thinking.keptAcrossTurns ?? true
  const turn = view.nodes.findLastIndex(
    (node) => node.role === 'user' && !node.blocks.some(({ block }) => isBlock(block, 'tool_result')),
  )
  return view.nodes.flatMap((node, index) =>
    node.blocks
      .filter(({ block }) => keeps || index > turn || !isThinking(block))
      .map((block) => ({ role: node.role, block })),
  )
}

/** Positions with their names; sizes come later. */
function layBlocks(state: State, blocks: readonly SentBlock[], model: string): Prompt {
  const parts: PromptPart[] = blocks.map(({ block }, index) => {
    const hash = state.blockHashes.get(block) ?? hashText(block.json)
    state.blockHashes.set(block, hash)
    return {
      level: 'messages',
      path: `messages.${index}`,
      hash,
      tokens: 0,
      cacheable: !isThinking(block.block),
    }
  })
  const key = { tools: { model }, system: {}, messages: {} }
  return layPrompt(key, [{ ...HIDDEN, tokens: 0, cacheable: true }, ...parts])
}

/** Known ends keep their sizes; blocks between two of them share what lies between, by their estimates. */
function sized(
  state: State,
  laid: Prompt,
  blocks: readonly SentBlock[],
  { end, total }: { readonly end: number; readonly total: number },
): { readonly prompt: Prompt; readonly breakpoint: number } {
  const weights = [0, ...blocks.map(({ block }) => weightOf(block))]
  const known = laid.positions.flatMap((position, index) => {
    const tokens = state.ends.get(position.hash)
    return tokens === undefined ? [] : [{ index, tokens }]
  })
  const hiddenSize = Math.max(0, end - sum(weights))
  const points = known.length > 0 ? known : [{ index: 0, tokens: hiddenSize }]
  const from = points.at(-1) ?? { index: 0, tokens: 0 }
  const breakpoint = findBreakpoint(laid, weights, from, { end, total })
  if (breakpoint > from.index) points.push({ index: breakpoint, tokens: Math.max(end, from.tokens) })
  const last = laid.positions.length - 1
  if (last > breakpoint) points.push({ index: last, tokens: Math.max(total, points.at(-1)?.tokens ?? 0) })
  const tokens = interpolate(weights, points)
  const positions = laid.positions.map((position, index) => ({ ...position, tokens: tokens[index] ?? 0 }))
  return { prompt: { ...laid, positions, tokens: Math.max(total, tokens.at(-1) ?? 0) }, breakpoint }
}

/** The last block that may carry one; further up where more lies behind it than the frame of an answer. */
function findBreakpoint(
  laid: Prompt,
  weights: readonly number[],
  from: { readonly index: number; readonly tokens: number },
  { end, total }: { readonly end: number; readonly total: number },
): number {
  const last = laid.positions.findLastIndex((position) => position.cacheable)
  const behind = total - end
  if (behind <= FRAME_TOKENS_MAX) return last
  const fresh = sum(weights.slice(from.index + 1)) || 1
  const scale = Math.max(0, total - from.tokens) / fresh
  let best = last
  let trailing = sum(weights.slice(last + 1)) * scale
  let error = Math.abs(trailing - behind)
  for (let index = last - 1; index > from.index; index--) {
    trailing += (weights[index + 1] ?? 0) * scale
    const miss = Math.abs(trailing - behind)
    if (miss < error && laid.positions[index]?.cacheable) [best, error] = [index, miss]
  }
  return best
}

function interpolate(
  weights: readonly number[],
  points: readonly { readonly index: number; readonly tokens: number }[],
): number[] {
  const tokens: number[] = []
  let previous = { index: -1, tokens: 0 }
  for (const point of points) {
    const span = weights.slice(previous.index + 1, point.index + 1)
    const scale = (point.tokens - previous.tokens) / (sum(span) || 1)
    let reached = previous.tokens
    for (const weight of span) tokens.push((reached += weight * scale))
    tokens[point.index] = point.tokens
    previous = point
  }
  return tokens
}

/** Ends that no longer fit below the newest one belong to a prompt that has changed out of sight. */
function rememberEnd(state: State, prompt: Prompt, breakpoint: number, end: number): void {
  const first = prompt.positions[0]
  if (first && !state.ends.has(first.hash)) state.ends.set(first.hash, first.tokens)
  for (const position of prompt.positions.slice(0, breakpoint))
    if ((state.ends.get(position.hash) ?? 0) > end) state.ends.delete(position.hash)
  const position = prompt.positions[breakpoint]
  if (position) state.ends.set(position.hash, end)
}

function weightOf({ block, json }: ViewBlock): number {
  return (isBlock(block, 'image') ? IMAGE_CHARS : json.length) / CHARS_PER_TOKEN
}

function ttlOf(usage: Usage): Ttl | undefined {
  if (usage.cache_creation?.ephemeral_1h_input_tokens) return '1h'
  return usage.cache_creation?.ephemeral_5m_input_tokens ? '5m' : undefined
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}
