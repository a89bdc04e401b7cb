import { encodeFacts } from '../facts/encode-facts.ts'
import { factsOf } from '../facts/facts-of.ts'
import type { ProviderFailure } from '../errors.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { isBlock } from '../wire/message.ts'
import { compactionBodies } from '../layers/4-compaction/summary/compaction-bodies.ts'
import type { NamedBody } from '../situation/session.ts'

// A signed block is worth nothing at another account or endpoint: every request with it is refused. Its content is then sent as plain text,
// as the summary of a boundary that keeps everything else. The thinking after it leaves by itself.

/** How the provider says that a block does not fit, except when it is about a compaction that is being requested. */
const CODE_START = 'compaction_'

const SAYS_NOTHING =
  'A summary of the beginning of this conversation stood here, sealed. It cannot be read any more; the transcript has the whole.'

/** Undefined if the failure is about something else, or if there is no such block. */
export function unsealed(
  view: View,
  failure: ProviderFailure,
  newId: () => EntryId,
): readonly NamedBody[] | undefined {
  if (failure.kind !== 'invalid-request' || !failure.code?.startsWith(CODE_START)) return undefined
  const [first, ...rest] = view.nodes
  const block = first?.blocks[0]?.block
  if (first?.source.standsFor === undefined || !block || !isBlock(block, 'compaction')) return undefined
  const { meta } = view.boundary?.entry ?? {}
  return compactionBodies(
    view,
    {
      keeps: 'tail',
      summary: block.content || SAYS_NOTHING,
      kept: rest,
      quotes: '',
      copied: [],
      restored: [],
      meta: {
        trigger: 'auto',
        preTokens: meta?.postTokens ?? 0,
        messagesSummarized: 1,
        path: 'unsealed',
        extra: { ...meta?.extra, facts: encodeFacts(factsOf(view)) },
      },
    },
    newId,
  )
}
