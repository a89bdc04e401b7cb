// The layers' policies, for callers of the engine.

export { storagePolicy, type StoragePolicy } from '../layers/1-tool-results/policy.ts'
export { microPolicy, type MicroPolicy } from '../layers/2-micro-compaction/policy.ts'
