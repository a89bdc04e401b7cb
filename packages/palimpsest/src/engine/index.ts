// palimpsest/engine: a session as a value, the one function that appends, and the request built from what is in view.

import '../require-runtime.ts'

export { BACKGROUND_SHARE_MAX, besideSpending, billOf, mayCallBeside } from './background-bill.ts'
export type { BesideSpending } from './background-bill.ts'
export type { Bill } from './background-bill.ts'
export { breakersOf, notesInVain } from './breakers.ts'
export type { Breaker, Breakers } from './breakers.ts'
export { buildRequest } from './build-request.ts'
export type { BuildOptions, BuiltRequest, CacheLifetimes } from './build-request.ts'
export { boughtLifetime, chooseLifetime } from './choose-lifetime.ts'
export type { LifetimeChoice } from './choose-lifetime.ts'
export { collapseState } from './collapse.ts'
export type { CollapseState } from './collapse.ts'
export { cacheHistory } from './cache-history.ts'
export type { CacheEvent, CacheHistory } from './cache-history.ts'
export { createCacheWatch } from './cache-watch.ts'
export type {
  CacheBreak,
  CacheFall,
  CacheReading,
  CacheWatch,
  WatchedAnswer,
  WatchedRequest,
} from './cache-watch.ts'
export { calibrationOf } from './calibration.ts'
export { compactSession as compact } from './compact-session.ts'
export type { CompactJob, CompactResult } from './compact.ts'
export type {
  CompactEvent,
  CompactionPath,
  CompactPorts,
  CompactSetup,
  CompactWish,
} from './compaction-setup.ts'
export type { CompactionSpan } from './keep-for.ts'
export { CONTEXT_KINDS, describeContext } from './describe-context.ts'
export type {
  CacheHealth,
  ContextDescription,
  ContextKind,
  ContextSetup,
  Removal,
} from './describe-context.ts'
export type { EditEffect } from './edit-effect.ts'
export { forkRequest } from './fork-request.ts'
export type { ForkParent } from './fork-request.ts'
export { lastRequest } from './last-request.ts'
export type { LastRequest } from './last-request.ts'
export { NO_HOST } from './no-host.ts'
export { notesWithoutModel } from './notes-for.ts'
export type { NotesLimits, NotesPolicy } from './notes-for.ts'
export { modelPolicy } from './model-policy.ts'
export { COMPACTION_BETA } from './server-compaction.ts'
export { serverClearingFor } from './server-clearing-for.ts'
export { appendMessage, appendTo, messageBody } from './session.ts'
export type { Appended, EntryBody, NamedBody, Session } from './session.ts'
export { sizeOf } from './size-of.ts'
export type { Sizing } from './size-of.ts'
export { CONTEXT_MANAGEMENT_BETA, microPolicy, NOTES_TEMPLATE, storagePolicy } from './limits.ts'
export type { MicroPolicy, ServerClearing, StoragePolicy } from './limits.ts'
