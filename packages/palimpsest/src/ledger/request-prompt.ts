import { hashText, type Hash } from '../wire/hash.ts'
import { isJsonObject } from '../wire/json.ts'
import type { CacheControl, Block, WireMessage } from '../wire/message.ts'
import { isBlock, isThinking, toBlocks } from '../wire/message.ts'
import type { MessagesRequest } from '../wire/request.ts'
import type { Breakpoint, Ttl } from './cache.ts'
import { layPrompt, type Level, type Prompt, type PromptKey, type PromptPart } from './prompt.ts'

// From a request's body to its prompt: what is hashed, what is left out, where breakpoints stand.

/** Clients put an attribution block first; the provider takes it out, so it is no part of the prefix. */
const BILLING_HEADER = 'x-anthropic-billing-header'

/** Tokens of one part, from its canonical text and its block (a tool or system block where `level` says so). */
export type SizeOf = (part: {
  readonly level: Level
  readonly text: string
  readonly hash: Hash
  readonly value: unknown
}) => number

export interface RequestParts {
  readonly parts: readonly PromptPart[]
  /** Explicit breakpoints and the automatic one, in order. Not checked for count or order. */
  readonly breakpoints: readonly Breakpoint[]
}

export interface RequestPrompt {
  readonly prompt: Prompt
  readonly breakpoints: readonly Breakpoint[]
}

export function promptOf(request: MessagesRequest, betas: readonly string[], sizeOf: SizeOf): RequestPrompt {
  const { parts, breakpoints } = partsOf(request, sizeOf)
  return { prompt: layPrompt(promptKey(request, betas), parts), breakpoints }
}

/** A request's parts in prefix order, each hashed and sized once; what depends on the cache key is not in them. */
export function partsOf(request: MessagesRequest, sizeOf: SizeOf): RequestParts {
  const parts: PromptPart[] = []
  const breakpoints: Breakpoint[] = []
  const add = (
    { text, ...part }: Omit<PromptPart, 'tokens' | 'hash'> & { readonly text: string },
    value: unknown,
    control: CacheControl | null | undefined,
  ): void => {
    const hash = hashText(text)
    parts.push({ ...part, hash, tokens: sizeOf({ level: part.level, text, hash, value }) })
    if (control) breakpoints.push({ index: parts.length - 1, ttl: ttlOf(control) })
  }
  request.tools?.forEach((tool, i) => {
    if (tool.defer_loading) return
    add(
      { level: 'tools', path: `tools.${i}`, text: canonicalText(tool), cacheable: true },
      tool,
      tool.cache_control,
    )
  })
  toBlocks(request.system).forEach((block, i) => {
    if (isBlock(block, 'text') && block.text.startsWith(BILLING_HEADER)) return
    const part = {
      level: 'system',
      path: `system.${i}`,
      text: canonicalText(block),
      cacheable: isCacheable(block),
    } as const
    add(part, block, controlOf(block))
  })
  request.messages.forEach((message, i) => {
    const blocks = toBlocks(message.content)
    const extras = messageExtras(message)
    blocks.forEach((block, j) => {
      const text = `${message.role}${j === 0 ? extras : ''}${canonicalText(block)}`
      const path = `messages.${i}.content.${j}`
      add({ level: 'messages', path, text, cacheable: isCacheable(block) }, block, controlOf(block))
    })
    if (blocks.length === 0)
      add(
        { level: 'messages', path: `messages.${i}`, text: `${message.role}${extras}`, cacheable: false },
        message,
        null,
      )
  })
  const automatic = automaticBreakpoint(request, parts, breakpoints)
  return { parts, breakpoints: automatic ? [...breakpoints, automatic] : breakpoints }
}

export function promptKey(request: MessagesRequest, betas: readonly string[]): PromptKey {
  return {
    tools: { model: request.model, betas: betas.toSorted().join(',') },
    system: { speed: request.speed ?? '' },
    messages: {
      tool_choice: canonicalText(request.tool_choice ?? null),
      thinking: canonicalText(request.thinking ?? null),
      effort: request.output_config?.effort ?? '',
      images: request.messages.some(hasImage) ? 'present' : 'absent',
    },
  }
}

/** Canonical text of a block, tool or setting: as it stands, without breakpoints. A tool's input is data and stays whole. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(withoutBreakpoints(value))
}

export function isCacheable(block: Block): boolean {
  return !isThinking(block) && !(isBlock(block, 'text') && block.text === '')
}

function withoutBreakpoints(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const nested = Array.isArray(value['content']) ? { content: value['content'].map(withoutBreakpoints) } : {}
  const { cache_control: _control, ...rest } = value
  return { ...rest, ...nested }
}

function controlOf(block: Block): CacheControl | null | undefined {
  if (!('cache_control' in block)) return nestedControl(block)
  const control = block.cache_control
  return typeof control === 'object' && control !== null && 'type' in control && control.type === 'ephemeral'
    ? toControl('ttl' in control ? control.ttl : undefined)
    : nestedControl(block)
}

function nestedControl(block: Block): CacheControl | undefined {
  if (!isBlock(block, 'tool_result') || typeof block.content === 'string') return undefined
  return (
    block.content?.map(controlOf).findLast((control) => control !== undefined && control !== null) ??
    undefined
  )
}

function toControl(ttl: unknown): CacheControl {
  return { type: 'ephemeral', ttl: ttl === '1h' ? '1h' : '5m' }
}

function ttlOf(control: CacheControl): Ttl {
  return control.ttl ?? '5m'
}

/** The automatic breakpoint goes to the last block that may carry one, unless an explicit one stands there. */
function automaticBreakpoint(
  request: MessagesRequest,
  parts: readonly PromptPart[],
  explicit: readonly Breakpoint[],
): Breakpoint | undefined {
  if (!request.cache_control) return undefined
  const index = parts.findLastIndex((part) => part.cacheable)
  if (index < 0 || explicit.some((breakpoint) => breakpoint.index === index)) return undefined
  return { index, ttl: ttlOf(request.cache_control) }
}

function messageExtras(message: WireMessage): string {
  const { role: _role, content: _content, ...extras } = message
  return Object.keys(extras).length > 0 ? canonicalText(extras) : ''
}

function hasImage(message: WireMessage): boolean {
  return toBlocks(message.content).some(
    (block) =>
      block.type === 'image' ||
      (isBlock(block, 'tool_result') && toBlocks(block.content).some((inner) => inner.type === 'image')),
  )
}
