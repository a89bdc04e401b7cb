// The public names. The parts also have import paths of their own: palimpsest/wire, palimpsest/transcript, palimpsest/ledger, …

import './require-runtime.ts'

export { createContext } from './context/library/create-context.ts'
export type {
  CallOptions,
  Context,
  ContextOptions,
  ManagedRequest,
  OpaqueBlock,
  Prepared,
  PreparedParams,
  SystemBlock,
} from './context/library/create-context.ts'
export type { ContextPolicy } from './context/context-state.ts'
export type { Observed } from './context/observe.ts'
export type { OwnerMessage } from './context/owner-message.ts'
export type { PrepareInput } from './context/owner-prefix.ts'
export type { PlannedAction, RequestPlan } from './context/prepare.ts'
export type { AgentMemory } from './conversation/agent/agent-memory.ts'
export { createAgent } from './conversation/agent/create-agent.ts'
export type { AgentOptions } from './conversation/agent/agent-options.ts'
export type { AgentTool, AgentToolContext } from './conversation/agent/agent-tool.ts'
export type { Agent, SendOptions } from './conversation/agent/agent.ts'
export type { AgentMessage, MessageHandler } from './conversation/agent/agent-mail.ts'
export { createPost } from './conversation/agent/create-post.ts'
export type { Post } from './conversation/agent/create-post.ts'
export type {
  AgentsOptions,
  Spawn,
  SpawnOptions,
  SpawnResult,
  SpawnType,
} from './conversation/agent/spawn.ts'
export type { CompactionOutcome } from './context/compaction-outcome.ts'
export { memoryStore } from './context/library/memory-store.ts'
export { InvariantError, ProviderError, StorageError, UsageError } from './errors.ts'
export type { ProviderFailure, SpendingLimit, StorageFailure } from './errors.ts'
export { BUILT_IN_FLAGS, createFlags, explainFlag, findFlag, problemOfValue } from './flags/create-flags.ts'
export type { ExplainedFlag, Flags, FlagSource } from './flags/create-flags.ts'
export { FLAGS } from './flags/flags.ts'
export type { Flag, FlagValue } from './flags/flags.ts'
export type { MemoryChange, MemoryFiles, MemoryRecord, PendingMemory } from './memory-files.ts'
export type {
  AgentStore,
  Arbiter,
  AskModel,
  AskOutcome,
  Clock,
  CompactionHost,
  ConsolidationRecord,
  CostOf,
  Fork,
  ForkOutcome,
  History,
  Holder,
  KeptConversation,
  Mailbox,
  MemoryFolder,
  ModelEvent,
  ModelRequest,
  Ports,
  Restored,
  RestoreWish,
  RunFork,
  Source,
  StreamModel,
  TraceEvent,
  Transcript,
} from './ports.ts'
