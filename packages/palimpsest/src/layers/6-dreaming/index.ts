// palimpsest/dreaming: memory, consolidated between sessions.

import '../../require-runtime.ts'

export { lastConsolidation, takeConsolidation } from './consolidation-lock.ts'
export type { Hold, LockOutcome, LockPorts, ProcessState } from './consolidation-lock.ts'
export { passGates } from './gates.ts'
export type { Gate, GateOutcome, GatePorts, GateState } from './gates.ts'
export { memoryArbiter } from './memory-arbiter.ts'
export {
  DREAM_COST_USD_MAX,
  DREAM_HOURS,
  DREAM_MS_MAX,
  DREAM_REQUESTS_MAX,
  DREAM_SESSIONS,
} from './policy.ts'
export type { DreamPolicy } from './policy.ts'
export { dreamPrompt } from './prompt.ts'
export type { DreamScene } from './prompt.ts'
export { runDream } from './run-dream.ts'
export type {
  Changed,
  DreamCopy,
  DreamFiles,
  DreamOutcome,
  DreamPorts,
  DreamVerdict,
  DreamWish,
  Thought,
} from './run-dream.ts'
