// palimpsest/transcript: entries, their lines, chains of them, and the view that is folded from a chain.

import '../require-runtime.ts'

export { chainOf } from './chain-of.ts'
export type { ChainWarning, EntryChain } from './chain-of.ts'
export { decodeLine, encodeEntry } from './codec.ts'
export type { DecodeProblem } from './codec.ts'
export { ORIGINS } from './entry.ts'
export type * from './entry.ts'
export { seenFiles } from './seen-files.ts'
export { chainEnd, settle, tokensEnd } from './settle.ts'
export type { Settled, ThinkingPolicy } from './settle.ts'
export type { ViewBlock } from './view-block.ts'
export { emptyView, step, viewOf } from './view.ts'
export type { View, ViewNode } from './view.ts'
export { hitRateOf } from './totals.ts'
export type { Totals } from './totals.ts'
