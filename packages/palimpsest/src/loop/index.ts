// palimpsest/loop: what a tool is, who permits its calls, what a turn reports, one turn of an agent, and forks of its requests.

import '../require-runtime.ts'

export type * from './events.ts'
export { besideLimits } from '../engine/beside-limits.ts'
export type { BesideLimits, BesideMoment } from '../engine/beside-limits.ts'
export { compactBeforeExpiry, waitForExpiryMs } from './compact-before-expiry.ts'
export type { IdleMoment } from './compact-before-expiry.ts'
export { createConfirm } from './confirm-compaction.ts'
export { compactForSwitch } from './compact-for-switch.ts'
export type { SwitchSetup, SwitchTarget } from './compact-for-switch.ts'
export { createForkPoint } from './fork-point.ts'
export type { ForkPoint, ForkSetup } from './fork-point.ts'
export { createAskModel } from './ask-once.ts'
export { createBudget, payFrom } from '../accounts/budget.ts'
export type { Budget, Held, HeldAmount, Purse } from '../accounts/budget.ts'
export type { LearnedLimit, LimitKeeper, LimitVerdict, Refusal } from './limit-keeper.ts'
export { meterModel } from '../accounts/meter-model.ts'
export type { MeteredModel } from '../accounts/meter-model.ts'
export { createNotesKeeper } from '../layers/3-session-memory/notes-keeper.ts'
export { NOTES_WAIT_MS } from '../background/keepers.ts'
export type { LetterKeeper, Mail, NotesKeeper, TakenLetters } from '../background/keepers.ts'
export type { NotesSetup } from '../layers/3-session-memory/notes-keeper.ts'
export { runCompaction } from './run-compaction.ts'
export type { CompactionRun } from './run-compaction.ts'
export { createPreparedKeeper } from '../layers/4-compaction/summary/prepared-keeper.ts'
export type { PreparedKeeper } from '../background/keepers.ts'
export type { PreparedSetup } from '../layers/4-compaction/summary/prepared-keeper.ts'
export { createForkCalls } from './create-fork-calls.ts'
export type { ForkCallSetup } from './create-fork-calls.ts'
export type { CallSetup } from './run-call.ts'
export { runToolFork, spentOnFork } from '../background/run-tool-fork.ts'
export type {
  CallResult,
  ForkCall,
  ToolFork,
  ToolForkEnd,
  ToolForkOutcome,
  ToolForkPorts,
} from '../background/run-tool-fork.ts'
export { runTurn } from './run-turn.ts'
export type { TurnCompaction, TurnSetup } from './run-turn.ts'
export type * from './tool.ts'
export { whyNotAnswered } from './why-not-answered.ts'
export type { LimitTexts } from './why-not-answered.ts'
export { withBeside } from './with-beside.ts'
