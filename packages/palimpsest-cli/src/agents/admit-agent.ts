import { whyNoAgent } from 'palimpsest/agents'
import { isFullForAgents } from 'palimpsest/conversation'
import type { ToolContext } from 'palimpsest/loop'
import { isForked } from 'palimpsest/transcript'

import type { AgentWish } from '../agent/tools/agent-tool.ts'
import type { AgentPlace } from '../run/isolate-agent.ts'
import type { AgentBase, AgentParent } from './agent-base.ts'
import type { AgentFork } from './agent-setup.ts'
import type { AgentType } from './kinds/agent-type.ts'

// Decides whether an agent may start, and where it works. The model gets the reason for a refusal.

export interface Placed {
  /** Undefined: it works where the conversation works. */
  readonly place: AgentPlace | undefined
  /** The worktree is its own, not its parent's. */
  readonly isOwn: boolean
  readonly notes: readonly string[]
}

/** Returns a sentence if it cannot have a place. */
export async function placeFor(
  { scene }: AgentBase,
  parent: AgentParent,
  { wish, type, id }: Pick<WishedAgent, 'wish' | 'type'> & { readonly id: string },
): Promise<Placed | string> {
  const inherited = { place: parent.place, isOwn: false, notes: [] }
  if ((wish.isolation ?? type?.isolation) === undefined) return inherited
  if (type?.mode === 'plan')
    return { ...inherited, notes: ['It works in plan mode and changes nothing, so it has no worktree'] }
  if (parent.mode() === 'plan')
    return 'In plan mode nothing is changed, and no worktree is made. Call the agent without isolation.'
  const isolated = await scene.isolate.enter(id, parent.place)
  return isolated.ok ? { place: isolated.place, isOwn: true, notes: [] } : isolated.why
}

export interface WishedAgent {
  readonly wish: AgentWish
  readonly type: AgentType | undefined
  readonly fork: AgentFork | undefined
  readonly context: ToolContext
}

export function whyNot(
  running: number,
  parent: AgentParent,
  { wish, type, fork, context }: WishedAgent,
  base: AgentBase,
): string | undefined {
  const { flags } = base.setup.ports
  const moment = {
    depth: parent.depth,
    running,
    isFork: wish.type === undefined,
    isForked: parent.isForked || isForked(context.view?.log ?? []),
    isOff: !flags.value('agents'),
    isFull: context.view !== undefined && isFullForAgents(context.view, base.setup),
  }
  const why = whyNoAgent(moment, base.policy)
  if (why !== undefined) return why
  if (wish.type !== undefined && !type)
    return `There is no type "${wish.type}". The types are: ${base.types.types.map(({ name }) => name).join(', ')}, and fork.`
  if (wish.type === undefined && !fork)
    return 'This conversation cannot be forked here. Name a subagent_type.'
  if (parent.depth > 0 && (wish.isBackground || type?.background))
    return 'Only the conversation of the user starts agents in the background. Call it without run_in_background.'
  return undefined
}
