// palimpsest/loop: what a tool is, who permits its calls, what a turn tells, and one turn of an agent.

export type * from './events.ts'
export { runTurn } from './run-turn.ts'
export type { TurnSetup } from './run-turn.ts'
export type * from './tool.ts'
