// The layers' policies, for callers of the engine.

export { storagePolicy, type StoragePolicy } from '../layers/1-tool-results/policy.ts'
