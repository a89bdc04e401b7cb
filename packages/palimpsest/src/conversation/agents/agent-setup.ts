import { createBudget } from '../../accounts/budget.ts'
import { agentSource } from '../../layers/7-agents/agent-source.ts'
import type { AgentPolicy } from '../../layers/7-agents/policy.ts'
import type { Ports, StreamModel } from '../../ports.ts'
import type { EntryBody } from '../../situation/session.ts'
import type { PrefixEntry } from '../../transcript/entry.ts'
import type { View } from '../../transcript/view.ts'
import type { ConversationSetup } from '../conversation-setup.ts'
import { outputTokensFor } from '../request-prefix.ts'

// An agent is a complete conversation: it has its own window, transcript and tools, and everything that keeps a conversation inside its
// window. It shares the model, the spending limits and the clock with its parent.

type OwnPart =
  | 'agents'
  | 'session'
  | 'history'
  | 'totals'
  | 'prefix'
  | 'opening'
  | 'tools'
  | 'permit'
  | 'compaction'

/** What an agent does not share with its parent. */
export interface AgentOwn extends Pick<ConversationSetup, OwnPart> {
  /** `fork`, or the name of its type. */
  readonly name: string
  /** As requested: an id, perhaps with its window. */
  readonly model: string
  /** Where it writes. Absent blobs: its parent's. */
  readonly ports: Pick<Ports, 'transcript'> & Partial<Pick<Ports, 'blobs'>>
  readonly limits: Pick<AgentPolicy, 'maxTurns' | 'maxCostUsd'>
  /** Makes a fork wait for the first of its group. */
  readonly join?: ((streamModel: StreamModel) => StreamModel) | undefined
}

/** `signal` ends everything that it does. */
export function agentSetup(parent: ConversationSetup, own: AgentOwn, signal: AbortSignal): ConversationSetup {
  const { name, model, limits, ports, join = (streamModel) => streamModel, ...rest } = own
  const isSameModel = model === parent.prefix.model
  const reading = (): ReturnType<ConversationSetup['reading']> =>
    isSameModel ? parent.reading() : (parent.readingOf?.(model) ?? parent.reading())
  const budget = createBudget(parent.ports.streamModel, { maxUsd: limits.maxCostUsd, spentUsd: 0 })
  return {
    ...parent,
    ...rest,
    ports: { ...parent.ports, ...ports, streamModel: join(budget.streamModel) },
    reading,
    maxTokens: () => outputTokensFor(reading()),
    notes: parent.notes && { ...parent.notes, written: undefined, writer: NOWHERE },
    extraction: undefined,
    agents: own.agents,
    limits: isSameModel ? parent.limits : undefined,
    howToCompact: undefined,
    roundsMax: limits.maxTurns,
    source: agentSource(name),
    // Broken-off requests are on the parent's bill, since every request passes the parent's meter.
    spending: {
      metered: NOTHING_METERED,
      maxUsd: limits.maxCostUsd,
      leftUsd: () => Math.min(budget.leftUsd(), parent.spending?.leftUsd?.() ?? Infinity),
    },
    endsWithTurn: true,
    signal,
  }
}

const NOTHING_METERED = { take: () => [], notices: () => [] }

/** Its notes are in its transcript; no one reads a file of them. */
const NOWHERE = {
  write: async () => undefined,
  writeComputed: () => undefined,
  settled: async () => undefined,
}

/** A fork's prefix is its parent's, byte for byte. */
export function forkPrefix(
  { prefix }: View,
  { prefix: next }: Pick<ConversationSetup, 'prefix'>,
): EntryBody<PrefixEntry> {
  if (!prefix) return { ...next, reason: 'start' }
  const { id: _id, parent: _parent, at: _at, ...had } = prefix
  return { ...had, reason: 'start' }
}
