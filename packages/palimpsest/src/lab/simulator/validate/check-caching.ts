import { BREAKPOINTS_MAX, TTL_MS, type Ttl } from '../../../ledger/cache.ts'
import { isCacheable } from '../../../ledger/request-prompt.ts'
import { isJsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'
import type { MessagesRequest } from '../../../wire/request.ts'
import { refuse, type Refusal } from '../refusal.ts'

// Breakpoints: their form, their number, and that a longer lifetime never follows a shorter one.

interface Mark {
  readonly path: string
  readonly ttl: Ttl
}

export function checkCaching(request: MessagesRequest): Refusal | undefined {
  const marks: Mark[] = []
  for (const { path, control } of controlsOf(request)) {
    const mark = markOf(path, control)
    if (mark && 'rule' in mark) return mark
    if (mark) marks.push(mark)
  }
  const automatic = markOf('', request.cache_control)
  if (automatic && 'rule' in automatic) return automatic
  if (automatic) {
    const last = lastCacheable(request)
    const explicit = marks.find((mark) => mark.path === last)
    if (explicit && explicit.ttl !== automatic.ttl) return refuse('caching.automatic-ttl')
    if (!explicit && last !== undefined) marks.push({ ...automatic, path: last })
  }
  if (marks.length > BREAKPOINTS_MAX) return refuse('caching.breakpoints-over', { count: marks.length })
  const late = marks.find((mark, i) => i > 0 && TTL_MS[mark.ttl] > TTL_MS[marks[i - 1]?.ttl ?? '1h'])
  return late ? refuse('caching.ttl-order', { path: late.path }) : undefined
}

/** Whether any breakpoint asks for an hour. */
export function asksForHour(request: MessagesRequest): boolean {
  for (const { control } of controlsOf(request))
    if (isJsonObject(control) && control['ttl'] === '1h') return true
  return request.cache_control?.ttl === '1h'
}

function markOf(path: string, control: unknown): Mark | Refusal | undefined {
  if (control === undefined || control === null) return undefined
  const at = path === '' ? 'top-level' : path
  if (!isJsonObject(control) || control['type'] !== 'ephemeral') return refuse('caching.type', { path: at })
  const ttl = control['ttl'] ?? '5m'
  return ttl === '5m' || ttl === '1h' ? { path, ttl } : refuse('caching.ttl', { path: at })
}

function* controlsOf(request: MessagesRequest): Generator<{ path: string; control: unknown }> {
  for (const [i, tool] of (request.tools ?? []).entries())
    if (tool.cache_control) yield { path: `tools.${i}`, control: tool.cache_control }
  yield* blockControls(toBlocks(request.system), 'system')
  for (let i = 0; i < request.messages.length; i++) {
    const content = request.messages[i]?.content
    if (typeof content === 'object' && content !== null)
      yield* blockControls(content, `messages.${i}.content`)
  }
}

function* blockControls(
  blocks: readonly Block[],
  path: string,
): Generator<{ path: string; control: unknown }> {
  for (let j = 0; j < blocks.length; j++) {
    const block = blocks[j]
    if (!block) continue
    if (isBlock(block, 'tool_result') && Array.isArray(block.content))
      yield* blockControls(block.content, `${path}.${j}.tool_result.content`)
    if ('cache_control' in block && block.cache_control)
      yield { path: `${path}.${j}`, control: block.cache_control }
  }
}

function lastCacheable(request: MessagesRequest): string | undefined {
  for (let i = request.messages.length - 1; i >= 0; i--) {
    const j = toBlocks(request.messages[i]?.content).findLastIndex(isCacheable)
    if (j >= 0) return `messages.${i}.content.${j}`
  }
  const s = toBlocks(request.system).findLastIndex(isCacheable)
  if (s >= 0) return `system.${s}`
  const t = (request.tools ?? []).findLastIndex((tool) => !tool.defer_loading)
  return t >= 0 ? `tools.${t}` : undefined
}
