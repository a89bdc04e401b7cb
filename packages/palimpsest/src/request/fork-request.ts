import type { CompactionWish, Fork, ModelRequest } from '../ports.ts'
import { findMember, splitArray, withMember, withoutMember, type JsonText } from '../wire/json.ts'
import type { BuiltRequest } from './build-request.ts'
import { withBreakpoint } from './with-breakpoint.ts'

// A fork is its parent's body with messages behind it. Nothing else is touched: whatever the provider has in its cache key, known to us
// or not, is the same because the bytes are. The last breakpoint stays on the block where the parent wrote its entry, and none follows, so
// that what only this fork says is never paid for as a cache entry. Only where several forks share more than the parent's request does a
// breakpoint go to the end of that: the first writes it, the others read it. Breakpoints are no part of the prefix, so where the parent
// has all four, its first one in the messages makes room.

/** What `buildRequest` puts behind the last message. */
const BODY_END = ']}'

/** A request that was sent, as far as its forks are concerned. */
export type ForkParent = Pick<
  BuiltRequest,
  'body' | 'betas' | 'model' | 'lastRole' | 'lifetime' | 'spare' | 'under'
>

/** Undefined where nothing can follow the parent's last message. */
export function forkRequest(parent: ForkParent, fork: Fork): ModelRequest | undefined {
  const { source, shared = [], messages, compaction } = fork
  const { betas, model, lastRole } = parent
  if (compaction) return compactionRequest(parent, source, compaction)
  const first = shared[0] ?? messages[0]
  if (first === undefined || !mayFollow(lastRole, first)) return undefined
  const body = shared.length > 0 ? withRoom(parent) : parent.body
  const behind = [...withEndMarked(shared, parent.lifetime), ...messages].join(',')
  return { body: `${body.slice(0, -BODY_END.length)},${behind}${BODY_END}`, betas, model, source }
}

/** The parent's own messages, to be summarised. One that ends in an answer is not finished. */
function compactionRequest(
  { body, betas, model, lastRole, under }: ForkParent,
  source: Fork['source'],
  { instructions, under: expected }: CompactionWish,
): ModelRequest | undefined {
  if (lastRole !== 'user' || under !== expected) return undefined
  const wish = JSON.stringify({ type: 'summarize', ...(instructions === undefined ? {} : { instructions }) })
  return { body: `${body.slice(0, -'}'.length)},"compaction":${wish}}`, betas, model, source }
}

/** Behind a system message comes an answer; behind an answer that goes on, nothing of ours. */
function mayFollow(lastRole: ForkParent['lastRole'], message: JsonText): boolean {
  if (lastRole === 'user') return true
  return lastRole === 'system' && findMember(message, 'role') === '"assistant"'
}

function withRoom({ body, spare }: ForkParent): JsonText {
  return spare ? `${body.slice(0, spare.from)}${body.slice(spare.to)}` : body
}

function withEndMarked(shared: readonly JsonText[], ttl: ForkParent['lifetime']): readonly JsonText[] {
  const last = shared.at(-1)
  const content = last === undefined ? undefined : findMember(last, 'content')
  if (last === undefined || content === undefined) return shared
  const blocks = content.startsWith('[') ? splitArray(content) : [`{"type":"text","text":${content}}`]
  const end = blocks.pop()
  if (end === undefined) return shared
  const marked = `[${[...blocks, withBreakpoint(end, ttl)].join(',')}]`
  return [...shared.slice(0, -1), withMember(withoutMember(last, 'content'), 'content', marked)]
}
