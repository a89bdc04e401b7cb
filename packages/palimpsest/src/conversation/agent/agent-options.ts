import type { Flags } from '../../flags/create-flags.ts'
import type { Letter } from '../../layers/7-agents/mail/letter.ts'
import type { Permit } from '../../loop/tool.ts'
import type { AgentStore, Mailbox, StreamModel, TraceEvent } from '../../ports.ts'
import type { MessagesClient } from '../../providers/anthropic/create-model.ts'
import type { AgentMemory } from './agent-memory.ts'
import type { AgentTool } from './agent-tool.ts'
import type { AgentsOptions } from './spawn.ts'

export interface AgentOptions {
  /** A client of `@anthropic-ai/sdk`, or any function that streams a model's events. */
  readonly client: MessagesClient | StreamModel
  /** As the provider names it. `[1m]` after the name asks for the extended window. */
  readonly model: string
  /** The system prompt. A resumed conversation keeps the one that it began with. */
  readonly system?: string | undefined
  /** What the model may call. */
  readonly tools?: readonly AgentTool[] | undefined
  /** Decides whether a call may run. Left out: all may. */
  readonly permit?: Permit | undefined
  /** Tokens that the conversation may fill. Left out: what is wise for the model. */
  readonly window?: number | undefined
  /** Where conversations are kept. Left out: in memory. */
  readonly store?: AgentStore | undefined
  /** A conversation of the store to resume, or the id of a new one. */
  readonly id?: string | undefined
  /** Requests of one turn, at most. */
  readonly roundsMax?: number | undefined
  /** US dollars that the conversation may cost in all, with its forks and all agents. */
  readonly maxCostUsd?: number | undefined
  /** Switches and numbers of what acts by itself. Left out: as built. */
  readonly flags?: Flags | undefined
  /** What outlasts the conversations of this agent. Left out: nothing does. */
  readonly memory?: AgentMemory | undefined
  /** Agents that `spawn` may start. */
  readonly agents?: AgentsOptions | undefined
  /** Its mailbox: what other agents write to it, and where it writes to them. From `createPost`, or `openFileMailbox` of `palimpsest/node`. Left out: none. */
  readonly mail?: Mailbox<Letter> | undefined
  /** Told of each decision, with its numbers. */
  readonly onTrace?: ((event: TraceEvent) => void) | undefined
}
