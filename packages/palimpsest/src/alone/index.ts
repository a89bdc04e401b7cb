// palimpsest/layers: each layer by itself, as a function over a list of messages.

import '../require-runtime.ts'

export { compaction } from './compaction.ts'
export type { CompactionOptions, CompactionOutcome } from './compaction.ts'
export type { HistoryMessage, LayerOptions } from './history.ts'
export { microCompaction } from './micro-compaction.ts'
export type { MicroCompactionOptions, MicroCompactionOutcome } from './micro-compaction.ts'
export { sessionNotes } from './session-notes.ts'
export type { SessionNotesOptions, SessionNotesOutcome } from './session-notes.ts'
export { toolResults } from './tool-results.ts'
export type { StoredText, ToolResultsOptions, ToolResultsOutcome } from './tool-results.ts'
