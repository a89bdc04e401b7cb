import type { ModelCapabilities, ThinkingFacts } from './model.ts'

/** A model of another protocol: no thinking block of the Messages API ever reaches it. */
export const FOREIGN_THINKING: ThinkingFacts = {
  modes: [],
  bindsPrefix: false,
  bindsAccount: false,
  keptAcrossTurns: false,
  readsFrom: [],
}

export const FOREIGN_CAPABILITIES: ModelCapabilities = {
  onDemandCompaction: false,
  thresholdCompaction: false,
  clearToolUses: false,
  clearThinking: false,
  systemMessages: false,
  overlongOutputAccepted: false,
}
