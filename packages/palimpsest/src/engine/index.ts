// palimpsest/engine: a session as a value, the one function that appends, and the request built from what is in view.

import '../require-runtime.ts'

export {
  BACKGROUND_ALLOWANCE_USD,
  BACKGROUND_SHARE_MAX,
  besideSpending,
  billOf,
  mayCallBeside,
} from '../background/background-bill.ts'
export type { BesideSpending, BesideSums } from '../background/background-bill.ts'
export type { Bill } from '../background/background-bill.ts'
export { failuresAfter } from '../background/breaker.ts'
export type { Tried } from '../background/breaker.ts'
export { createRunner } from '../background/create-runner.ts'
export type { Ran, Runner, RunnerSetup, RunnerTask } from '../background/create-runner.ts'
export { breakersOf, notesInVain } from '../layers/4-compaction/when/breakers.ts'
export type { Breaker, Breakers } from '../layers/4-compaction/when/breakers.ts'
export { buildRequest } from '../request/build-request.ts'
export type { BuildOptions, BuiltRequest, CacheLifetimes } from '../request/build-request.ts'
export { boughtLifetime, chooseLifetime } from '../request/choose-lifetime.ts'
export type { LifetimeChoice } from '../request/choose-lifetime.ts'
export { collapseState } from '../layers/4-compaction/when/plan-collapse.ts'
export type { CollapseState } from '../layers/4-compaction/when/plan-collapse.ts'
export { cacheHistory } from '../accounts/cache-history.ts'
export type { CacheEvent, CacheHistory } from '../accounts/cache-history.ts'
export { createCacheWatch } from '../accounts/cache-watch.ts'
export type {
  CacheBreak,
  CacheFall,
  CacheReading,
  CacheWatch,
  WatchedAnswer,
  WatchedRequest,
} from '../accounts/cache-watch.ts'
export { calibrationOf } from '../situation/calibration.ts'
export { compactSession as compact } from './compact-session.ts'
export type { CompactJob, CompactResult } from '../layers/4-compaction/compaction-setup.ts'
export type {
  CompactEvent,
  CompactionPath,
  CompactPorts,
  CompactSetup,
  CompactWish,
} from '../layers/4-compaction/compaction-setup.ts'
export type { CompactionSpan } from '../layers/4-compaction/keep/keep-for.ts'
export { CONTEXT_KINDS, describeContext, whyEdited } from './describe-context.ts'
export type {
  CacheHealth,
  ContextDescription,
  ContextKind,
  ContextSetup,
  Removal,
} from './describe-context.ts'
export type { EditEffect } from '../accounts/edit-effect.ts'
export { forkRequest } from '../request/fork-request.ts'
export type { ForkParent } from '../request/fork-request.ts'
export { lastRequest } from '../request/last-request.ts'
export type { LastRequest } from '../request/last-request.ts'
export { NO_HOST } from '../layers/4-compaction/compaction-host.ts'
export { notesWithoutModel } from '../layers/3-session-memory/notes-for.ts'
export type { NotesLimits } from '../background/keepers.ts'
export type { NotesPolicy } from '../layers/3-session-memory/notes-for.ts'
export { modelPolicy } from '../situation/model-policy.ts'
export { COMPACTION_BETA } from '../layers/4-compaction/summary/server-compaction.ts'
export { serverClearingFor } from '../layers/2-micro-compaction/server-clearing-for.ts'
export { appendEntries, appendMessage, appendTo, messageBody, placed } from '../situation/session.ts'
export type { Appended, EntryBody, NamedBody, Session } from '../situation/session.ts'
export { sizeOf } from '../situation/size-of.ts'
export type { Sizing } from '../situation/size-of.ts'
export { CONTEXT_MANAGEMENT_BETA } from '../layers/2-micro-compaction/server-clearing.ts'
export { microPolicy } from '../layers/2-micro-compaction/policy.ts'
export { TEMPLATE as NOTES_TEMPLATE } from '../layers/3-session-memory/template.ts'
export { storagePolicy } from '../layers/1-tool-results/policy.ts'
export type { MicroPolicy } from '../layers/2-micro-compaction/policy.ts'
export type { ServerClearing } from '../layers/2-micro-compaction/server-clearing.ts'
export type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
