// The layers' policies, for callers of the engine.

export { storagePolicy, type StoragePolicy } from '../layers/1-tool-results/policy.ts'
export { TEMPLATE as NOTES_TEMPLATE } from '../layers/3-session-memory/template.ts'
export {
  CONTEXT_MANAGEMENT_BETA,
  serverClearing,
  type ServerClearing,
} from '../layers/2-micro-compaction/server-clearing.ts'
export { microPolicy, type MicroPolicy } from '../layers/2-micro-compaction/policy.ts'
export { compactionPolicy, type CompactionPolicy, type KeepStyle } from '../layers/4-compaction/policy.ts'
export { isBreakerOpen } from '../layers/4-compaction/breaker.ts'
