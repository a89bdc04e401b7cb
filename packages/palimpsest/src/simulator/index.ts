// palimpsest/simulator: the Messages API as a `fetch` function. What it refuses and why is in docs/simulator.md.

export { createSimulator } from './create-simulator.ts'
export type { Simulator, SimulatorOptions } from './create-simulator.ts'
export { parseFaults } from './faults.ts'
export type { FaultRule } from './faults.ts'
export type { LoggedRequest, Stats } from './request-log.ts'
export { parseSteps } from './script.ts'
export type { ScriptBlock, ScriptStep } from './script.ts'
export type { Switches } from './switches.ts'
