import { InvariantError } from '../errors.ts'
import {
  chainEnd,
  messageText,
  settle,
  tokensEnd,
  type Settled,
  type ThinkingPolicy,
} from '../transcript/settle.ts'
import type { ViewBlock } from '../transcript/view-block.ts'
import type { View } from '../transcript/view.ts'
import type { Hash } from '../wire/hash.ts'
import { splitArray, withMember, type JsonText } from '../wire/json.ts'
import { isBlock, isThinking } from '../wire/message.ts'
import type { CacheControl } from '../wire/message.ts'

// From view to request. Only the last stretch is put together anew: everything before the previous request's end is one text already.

/** Lifetimes bought for the breakpoints: the end of `system`, and the messages. */
export interface CacheLifetimes {
  readonly system: '5m' | '1h'
  readonly messages: '5m' | '1h'
}

export interface BuildOptions {
  readonly maxTokens: number
  readonly thinking: ThinkingPolicy
  readonly lifetimes: CacheLifetimes
  readonly stream: boolean
}

export interface BuiltRequest {
  /** The body, whole. */
  readonly body: JsonText
  readonly betas: readonly string[]
  readonly model: string
  /** What an answer to this request is made under. */
  readonly under: Hash
  /** Estimated tokens of the messages, before calibration. */
  readonly estimate: number
}

export function buildRequest(view: View, options: BuildOptions): BuiltRequest {
  const prefix = view.prefix
  if (!prefix) throw new InvariantError('V2', 'a request needs a prefix entry: system, tools and model')
  if (view.open.size > 0)
    throw new InvariantError('V1', `tool uses without a result: ${[...view.open.keys()].join(', ')}`)
  const settled = settle(view, options.thinking)
  const parameters = Object.entries(prefix.parameters).map(
    ([name, value]) => `${JSON.stringify(name)}:${value}`,
  )
  const members = [
    `"model":${JSON.stringify(prefix.model)}`,
    `"max_tokens":${options.maxTokens}`,
    ...(options.stream ? ['"stream":true'] : []),
    ...parameters,
    ...(prefix.tools === '[]' ? [] : [`"tools":${prefix.tools}`]),
    ...systemMember(prefix.system, options.lifetimes.system),
  ]
  const messages = joinMessages(view, settled, options.lifetimes.messages)
  return {
    body: `{${members.join(',')},"messages":[${messages}]}`,
    betas: prefix.betas,
    model: prefix.model,
    under: chainEnd(settled),
    estimate: tokensEnd(settled),
  }
}

function systemMember(system: JsonText, ttl: '5m' | '1h'): string[] {
  const blocks = splitArray(system)
  const last = blocks.pop()
  if (last === undefined) return []
  return [`"system":[${[...blocks, withBreakpoint(last, ttl)].join(',')}]`]
}

function joinMessages(view: View, settled: Settled, ttl: '5m' | '1h'): string {
  const marked = breakpointNodes(view, settled)
  const from = marked[0]
  if (from === undefined) return settled.joined[settled.texts.length]?.slice(0, -1) ?? ''
  const rest: string[] = []
  for (let i = from; i < settled.texts.length; i++) {
    const text = marked.includes(i) ? textWithBreakpoint(settled, i, ttl) : settled.texts[i]
    if (text) rest.push(text)
  }
  return `${settled.joined[from] ?? ''}${rest.join(',')}`
}

/**
 * The nodes whose last block that may carry one has a breakpoint, in order, at most two: where the previous request ended (a certain
 * read, however many blocks came since) and the new end. The first is found in the view itself: the last node before the newest answer.
 */
export function breakpointNodes(view: View, settled: Settled): readonly number[] {
  const end = findBreakpointNode(settled, settled.texts.length)
  if (end < 0) return []
  const newestAnswer = view.nodes.findLastIndex((node) => node.role === 'assistant')
  const earlier = findBreakpointNode(settled, Math.min(newestAnswer, end))
  return earlier < 0 ? [end] : [earlier, end]
}

/** The last node before `limit` that can carry a breakpoint. */
function findBreakpointNode(settled: Settled, limit: number): number {
  for (let i = limit - 1; i >= 0; i--) if (settled.blocks[i]?.some(mayCarryBreakpoint)) return i
  return -1
}

function textWithBreakpoint(settled: Settled, index: number, ttl: '5m' | '1h'): string {
  const node = settled.nodes[index]
  const blocks = settled.blocks[index] ?? []
  if (!node) return ''
  const at = blocks.findLastIndex(mayCarryBreakpoint)
  return messageText(
    node,
    blocks.map((block, i) => (i === at ? withBreakpoint(block.json, ttl) : block.json)),
  )
}

function mayCarryBreakpoint({ block }: ViewBlock): boolean {
  return !isThinking(block) && !(isBlock(block, 'text') && block.text === '')
}

function withBreakpoint(block: JsonText, ttl: '5m' | '1h'): JsonText {
  const control: CacheControl = ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl }
  return withMember(block, 'cache_control', JSON.stringify(control))
}
