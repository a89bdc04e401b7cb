// The public names. Parts are importable on their own: palimpsest/wire, palimpsest/transcript, palimpsest/ledger, …

export { InvariantError, ProviderError, StorageError, UsageError } from './errors.ts'
export type { ProviderFailure, StorageFailure } from './errors.ts'
export type {
  Clock,
  ModelEvent,
  ModelRequest,
  Ports,
  Source,
  StreamModel,
  TraceEvent,
  Transcript,
} from './ports.ts'
