import type { BestHits } from '../../recall/best-hits.ts'
import { findQuotes } from '../../recall/find-quotes.ts'
import type { RecallQuery } from '../../recall/query.ts'
import { textsOf } from '../../recall/texts-of.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { StoredItem } from '../transcripts/read-stored.ts'

/** Summaries and files that were read again repeat earlier content, so the original ranks before them. */
const REPEATED_LESS = 0.05

/** Adds what a stored item says about the query. `lessOf`: how much to subtract from an entry's score. */
export function addHits(
  best: BestHits,
  item: StoredItem,
  query: RecallQuery,
  lessOf: (entry: Entry) => number = () => 0,
): void {
  const { session } = item
  if (item.kind === 'text') {
    const about = { id: item.id, session, at: item.at, kind: item.isMemory === true ? 'memory' : 'stored' }
    for (const quote of findQuotes(item.text, query)) best.add({ ...about, ...quote })
    return
  }
  const { id, at } = item.entry
  for (const { kind, text } of textsOf(item.entry)) {
    const repeated = kind === 'summary' || kind === 'attachment' ? REPEATED_LESS : 0
    const less = repeated + lessOf(item.entry)
    for (const quote of findQuotes(text, query))
      best.add({ id, session, at, kind, ...quote, score: quote.score - less })
  }
}
