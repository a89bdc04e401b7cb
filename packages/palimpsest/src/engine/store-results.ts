// Layer 1's parts for whoever stores results outside the engine's own moments: the replay.

export { familyOf, readCall } from '../facts/read-call.ts'
export { planArrival, planShare } from '../layers/1-tool-results/plan.ts'
export { storedStandIn } from '../layers/1-tool-results/stand-in.ts'
