// Layer 2's parts for whoever clears results outside the engine's own moments: the replay.

export { isClearableTool } from '../layers/2-micro-compaction/clearable-tools.ts'
export { digest, DIGEST_CHARS_MAX, identifiersOf } from '../layers/2-micro-compaction/digest.ts'
export { CLEARED_TEXT, standIn } from '../layers/2-micro-compaction/stand-in.ts'
