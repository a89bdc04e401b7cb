// palimpsest/memory: what outlasts a conversation.

import '../../require-runtime.ts'

export { ageInWords } from './age-in-words.ts'
export {
  addMemory,
  approvePending,
  importMemory,
  proposeMemory,
  removeMemory,
  undoChange,
} from './change-memory.ts'
export type { FindSecrets, MemoryOutcome, MemoryPorts, UndoOutcome } from './change-memory.ts'
export { checkMemories, pollutionOf } from './check-memories.ts'
export type { CheckFacts, MemoryProblem } from './check-memories.ts'
export { dailyLine } from './daily-line.ts'
export { evidenceOf } from './evidence.ts'
export type { Evidence } from './evidence.ts'
export type { ExtractionHost, ExtractionJob, OpenExtraction } from './extraction/extraction-keeper.ts'
export { parseProposal } from './extraction/parse-proposal.ts'
export type { Proposal, Situation, Verdict } from './judge-proposal.ts'
export { MEMORY_TYPES, memoryText } from './memory.ts'
export type { Memory, MemorySource, MemoryType, Trust } from './memory.ts'
export { undoneIds } from './plan-undo.ts'
export { MEMORY_MODE_DEFAULT, MEMORY_MODES } from './policy.ts'
export type { MemoryMode } from './policy.ts'
export { isMemoryName } from './memory-name.ts'
export { renderIndex } from './render-index.ts'
export type { ShownFolder } from './render-index.ts'
export { contradicts } from './similar-memories.ts'
export { statedMemories } from './stated-memories.ts'
export { parseStored, storedMemories } from './stored-memories.ts'
export { consolidateByRules, leftToGo } from './rewrite/consolidate-by-rules.ts'
export type { Rewritten } from './rewrite/consolidate-by-rules.ts'
export { judgeRewrite } from './rewrite/judge-rewrite.ts'
export type { RewriteSituation, RewriteVerdict, RewrittenMemory } from './rewrite/judge-rewrite.ts'
export type { SessionEvidence } from './rewrite/rewrite-evidence.ts'
