// palimpsest/replay: recorded sessions through context-management strategies, measured and charged.

import '../../require-runtime.ts'

export { createTracer } from './create-tracer.ts'
export type { Trace, Tracer } from './create-tracer.ts'
export { findMostExpensive } from './find-most-expensive.ts'
export type { MostExpensiveStep } from './find-most-expensive.ts'
export { half } from './half.ts'
export { pairStrategies } from './pair-strategies.ts'
export type { Difference, PairedRow } from './pair-strategies.ts'
export { readSession } from './read/read-session.ts'
export type { RecordedSession } from './read/recorded-session.ts'
export { replayOne, TIME_REVERSED } from './replay-one.ts'
export type { ReplayOptions, SessionReport } from './replay-one.ts'
export { toReplaySession } from './replay-session.ts'
export type { ReplaySession } from './replay-session.ts'
export { toReport } from './report.ts'
export type { PooledRow, PooledWindow, ReplayReport } from './report.ts'
export type { Row } from './row.ts'
export { STRATEGIES } from './strategies/all.ts'
export { ABLATIONS } from './strategies/palimpsest.ts'
export type {
  Actions,
  BackgroundCall,
  Moment,
  Strategy,
  StrategyRun,
  StrategySettings,
} from './strategies/strategy.ts'
export type { Act, TracedRequest } from './traced-request.ts'
export { writeViews } from './write-views.ts'
