// palimpsest/recall: what a text says about a query, word for word.

import '../require-runtime.ts'

export { createBestHits } from './best-hits.ts'
export type { BestHits, RecallHit } from './best-hits.ts'
export { contextOf } from './context-of.ts'
export type { ContextQuery } from './context-of.ts'
export type { Embed } from './fuse-ranks.ts'
export { messageText } from './entry-text.ts'
export { findQuotes } from './find-quotes.ts'
export type { Quote } from './find-quotes.ts'
export { toQuery } from './query.ts'
export type { RecallQuery } from './query.ts'
export { recallById } from './recall-by-id.ts'
export type { Recalled, RecalledRow, RecalledText, RecallSource } from './recalled.ts'
export { textsOf } from './texts-of.ts'
export type { EntryText, TextKind } from './texts-of.ts'
