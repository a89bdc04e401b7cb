import { hashText, type Hash } from '../wire/hash.ts'
import { isJsonObject } from '../wire/json.ts'
import type { CacheControl, Block, WireMessage } from '../wire/message.ts'
import { isBlock, isThinking, toBlocks } from '../wire/message.ts'
import type { MessagesRequest } from '../wire/request.ts'
import type { Breakpoint, Ttl } from './cache.ts'
import { layPrompt, type Level, type Prompt, type PromptKey, type PromptPart } from './prompt.ts'

// From a request's body to its prompt: what is hashed, what is omitted, where breakpoints are.

/** Clients put an attribution block first; the provider removes it, so it is not part of the prefix. */
const BILLING_HEADER = 'x-anthropic-billing-header'

/** Tokens of one part, from its block, or from a tool or system block according to `level`. */
export type SizeOf = (part: {
  readonly level: Level
  readonly hash: Hash
  readonly value: unknown
  /** The canonical text, serialized on demand. */
  readonly text: () => string
}) => number

export interface RequestParts {
  readonly parts: readonly PromptPart[]
  /** Explicit breakpoints, then the automatic one. Neither number nor order is checked. */
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

/** A request's parts in prefix order, each hashed and sized once. They do not include what depends on the cache key. */
export function partsOf(request: MessagesRequest, sizeOf: SizeOf): RequestParts {
  const parts: PromptPart[] = []
  const breakpoints: Breakpoint[] = []
  const add = (found: FoundPart, control: CacheControl | null | undefined): void => {
    const { level, path, value, frame, cacheable } = found
    const hash = hashBlock(value, frame)
    const text = (): string => `${frame}${canonicalText(value)}`
    parts.push({ level, path, hash, tokens: sizeOf({ level, hash, value, text }), cacheable })
    if (control) breakpoints.push({ index: parts.length - 1, ttl: ttlOf(control) })
  }
  request.tools?.forEach((tool, i) => {
    if (tool.defer_loading) return
    const path = `tools.${i}`
    add({ level: 'tools', path, value: tool, frame: '', cacheable: true }, tool.cache_control)
  })
  toBlocks(request.system).forEach((block, i) => {
    if (isBlock(block, 'text') && block.text.startsWith(BILLING_HEADER)) return
    const path = `system.${i}`
    add({ level: 'system', path, value: block, frame: '', cacheable: isCacheable(block) }, controlOf(block))
  })
  request.messages.forEach((message, i) => {
    const { role, content } = message
    const blocks = toBlocks(content)
    const extras = messageExtras(message)
    blocks.forEach((value, j) => {
      const path = `messages.${i}.content.${j}`
      const frame = j === 0 ? `${role}${extras}` : role
      add({ level: 'messages', path, value, frame, cacheable: isCacheable(value) }, controlOf(value))
    })
    const empty = {
      level: 'messages',
      path: `messages.${i}`,
      value: null,
      frame: `${role}${extras}`,
    } as const
    if (blocks.length === 0) add({ ...empty, cacheable: false }, null)
  })
  const automatic = automaticBreakpoint(request, parts, breakpoints)
  return { parts, breakpoints: automatic ? [...breakpoints, automatic] : breakpoints }
}

interface FoundPart {
  readonly level: Level
  readonly path: string
  readonly value: unknown
  /** What surrounds the value: the role and the settings of its message. */
  readonly frame: string
  readonly cacheable: boolean
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

/** Canonical text of a block, tool or setting: unchanged except for breakpoints. A tool's input is data and stays complete. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(withoutBreakpoints(value))
}

/** The hash of a block at its place. Two blocks have the same hash exactly if they have the same canonical text. */
export function hashBlock(value: unknown, frame: string): Hash {
  return hashText(`${frame}${JSON.stringify(digest(value))}`)
}

/** Longer strings are replaced by their hash: serializing megabytes of text again takes longer than everything else together. */
const DIGEST_CHARS = 256

/** A block without breakpoints and with its long strings replaced by their hashes; the block itself if it has neither. */
function digest(value: unknown): unknown {
  if (!isJsonObject(value)) return named(value)
  if (!('cache_control' in value)) return named(value, digest)
  const { cache_control: _control, ...rest } = value
  return named(rest, digest)
}

/** `inContent` is applied to the elements of `content`, which are blocks too. */
function named(value: unknown, inContent: (value: unknown) => unknown = named): unknown {
  if (typeof value === 'string') return value.length > DIGEST_CHARS ? `\u0000${hashText(value)}` : value
  if (Array.isArray(value)) return namedEach(value, named)
  if (!isJsonObject(value)) return value
  let copy: { [key: string]: unknown } | undefined
  for (const key in value) {
    const field = value[key]
    const short = key === 'content' && Array.isArray(field) ? namedEach(field, inContent) : named(field)
    if (short === field || key === '__proto__') continue
    copy ??= { ...value }
    copy[key] = short
  }
  return copy ?? value
}

function namedEach(values: readonly unknown[], name: (value: unknown) => unknown): readonly unknown[] {
  const short = values.map((value) => name(value))
  return short.every((value, i) => value === values[i]) ? values : short
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

/** The automatic breakpoint goes to the last block that may carry one, unless an explicit one is there. */
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
