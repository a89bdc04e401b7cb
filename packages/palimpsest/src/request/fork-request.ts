import type { CompactionWish, Fork, ModelRequest } from '../ports.ts'
import { findMember, splitArray, withMember, withoutMember, type JsonText } from '../wire/json.ts'
import { PLACES_MAX, type BuiltRequest } from './build-request.ts'
import { withBreakpoint } from './with-breakpoint.ts'

// A fork is its parent's body with messages after it. Nothing else is touched: whatever the provider has in its cache key, known to us or
// not, is the same because the bytes are. The last breakpoint stays on the block where the parent wrote its entry, and none follows, so
// what only this fork says is never paid for as a cache entry. Two cases need more: if several forks share more than the parent's request,
// a breakpoint goes to the end of that, which the first writes and the others read; and a fork of several responses keeps what it said,
// since its next request reads it. Breakpoints are not part of the prefix, so if the parent has all four, its first ones in the messages
// make room.

/** What `buildRequest` puts after the last message. */
const BODY_END = ']}'

/** What forks need of a request that was sent. */
export type ForkParent = Pick<
  BuiltRequest,
  'body' | 'betas' | 'model' | 'lastRole' | 'lifetime' | 'spare' | 'under'
>

/** Undefined if nothing can follow the parent's last message. */
export function forkRequest(parent: ForkParent, fork: Fork): ModelRequest | undefined {
  const { source, shared = [], messages, kept = [], compaction } = fork
  const { betas, model, lastRole } = parent
  if (compaction) return compactionRequest(parent, source, compaction)
  const first = shared[0] ?? messages[0]
  if (first === undefined || !mayFollow(lastRole, first)) return undefined
  const body = withRoom(parent, kept.length + (shared.length > 0 ? 1 : 0))
  const own = messages.map((message, i) => (kept.includes(i) ? withMark(message, KEPT_FOR) : message))
  const added = [...withEndMarked(shared, parent.lifetime), ...own].join(',')
  return { body: `${body.slice(0, -BODY_END.length)},${added}${BODY_END}`, betas, model, source }
}

/** The parent's own messages, to be summarized. Undefined if they do not end with the user, or are not the expected ones. */
function compactionRequest(
  { body, betas, model, lastRole, under }: ForkParent,
  source: Fork['source'],
  { instructions, under: expected }: CompactionWish,
): ModelRequest | undefined {
  if (lastRole !== 'user' || under !== expected) return undefined
  const wish = JSON.stringify({ type: 'summarize', instructions })
  return { body: `${body.slice(0, -'}'.length)},"compaction":${wish}}`, betas, model, source }
}

/** After a system message comes an answer; after an answer that is not finished, nothing of ours. */
function mayFollow(lastRole: ForkParent['lastRole'], message: JsonText): boolean {
  if (lastRole === 'user') return true
  return lastRole === 'system' && findMember(message, 'role') === '"assistant"'
}

/** Responses of one fork follow each other at once. */
const KEPT_FOR = '5m'

function withRoom({ body, spare }: ForkParent, marks: number): JsonText {
  const free = PLACES_MAX - spare.length - 1
  const given = spare.slice(0, Math.max(0, marks - free))
  return given.reduceRight((text, { from, to }) => `${text.slice(0, from)}${text.slice(to)}`, body)
}

function withEndMarked(shared: readonly JsonText[], ttl: ForkParent['lifetime']): readonly JsonText[] {
  const last = shared.at(-1)
  return last === undefined ? shared : [...shared.slice(0, -1), withMark(last, ttl)]
}

/** The message with a breakpoint on its last block. */
function withMark(message: JsonText, ttl: ForkParent['lifetime']): JsonText {
  const content = findMember(message, 'content')
  if (content === undefined) return message
  const blocks = content.startsWith('[') ? splitArray(content) : [`{"type":"text","text":${content}}`]
  const end = blocks.pop()
  if (end === undefined) return message
  const marked = `[${[...blocks, withBreakpoint(end, ttl)].join(',')}]`
  return withMember(withoutMember(message, 'content'), 'content', marked)
}
