// palimpsest/simulator: the Messages API as a `fetch` function. docs/simulator.md says what it refuses and why.

import '../../require-runtime.ts'

export type { Answer } from './answering/answer.ts'
export { createSimulator } from './create-simulator.ts'
export type { Simulator, SimulatorOptions } from './create-simulator.ts'
export { parseFaults } from './faults.ts'
export type { Fault, FaultRule } from './faults.ts'
export { SOURCE_HEADER } from './headers.ts'
export type { LoggedRequest, Stats } from './request-log.ts'
export { parseSteps } from './answering/script.ts'
export type { ScriptBlock, ScriptStep } from './answering/script.ts'
export { DEFAULT_SWITCHES, STRICT_SWITCHES } from './switches.ts'
export type { Switches } from './switches.ts'
