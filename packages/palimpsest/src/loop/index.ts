// palimpsest/loop: what a tool is, who permits its calls, what a turn tells, one turn of an agent, and forks of its requests.

export type * from './events.ts'
export { createForkPoint } from './fork-point.ts'
export type { ForkPoint, ForkSetup } from './fork-point.ts'
export { createAskModel } from './ask-once.ts'
export { createNotesKeeper } from './notes-keeper.ts'
export type { NotesKeeper, NotesSetup } from './notes-keeper.ts'
export { runCompaction } from './run-compaction.ts'
export type { CompactionRun } from './run-compaction.ts'
export { runTurn } from './run-turn.ts'
export type { TurnCompaction, TurnSetup } from './run-turn.ts'
export type * from './tool.ts'
