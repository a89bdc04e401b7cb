import type { AgentPolicy } from './policy.ts'

// Whether one more agent may start. A refusal goes to the model: it says why, and what to do instead.

export interface AgentMoment {
  /** Depth of the one that asks: 0 is the user's conversation. */
  readonly depth: number
  /** Agents of the session that are working now. */
  readonly running: number
  readonly isFork: boolean
  /** The one that asks is a fork, or comes from one. */
  readonly isForked: boolean
  /** Agents are turned off. */
  readonly isOff: boolean
  /** In collapse mode at 95% of the window: the report of an agent would not fit. */
  readonly isFull: boolean
}

/** Why it must not start; undefined if it may. */
export function whyNoAgent(moment: AgentMoment, policy: AgentPolicy): string | undefined {
  const { depth, running, isFork, isForked, isOff, isFull } = moment
  const instead = 'Do the work yourself.'
  if (isOff) return `Agents are turned off (flag agents). ${instead}`
  if (isFork && isForked)
    return `This conversation is a fork already, and a fork is not forked again. ${instead}`
  if (depth >= policy.maxDepth)
    return `Agents are nested ${policy.maxDepth} deep at most (setting agents.maxDepth), and this one is at that depth. ${instead}`
  if (running >= policy.maxAtOnce)
    return `${running} agents work already, and no more may at once (setting agents.maxAtOnce). Wait for one to end, or do the work yourself.`
  if (isFull)
    return 'The window is almost full, and the report of an agent would not fit. Finish with what is known.'
  return undefined
}
