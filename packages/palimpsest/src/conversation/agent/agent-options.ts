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
  /** The provider's name for it. `[1m]` after the name asks for the extended window. */
  readonly model: string
  /** The system prompt. A resumed conversation keeps the one that it began with. */
  readonly system?: string | undefined
  /** The tools that the model may call. */
  readonly tools?: readonly AgentTool[] | undefined
  /** Decides whether a call may run. Absent: every call may. */
  readonly permit?: Permit | undefined
  /** Tokens that the conversation may fill. Absent: a good default for the model. */
  readonly window?: number | undefined
  /** Where conversations are stored. Absent: in memory. */
  readonly store?: AgentStore | undefined
  /** Id of a stored conversation to resume, or the id for a new one. */
  readonly id?: string | undefined
  /** Most requests in one turn. */
  readonly roundsMax?: number | undefined
  /** US dollars that the conversation may cost in total, including its forks and all agents. */
  readonly maxCostUsd?: number | undefined
  /** Switches and numbers for the automatic mechanisms. Absent: the defaults. */
  readonly flags?: Flags | undefined
  /** Memory that outlasts the conversations of this agent. Absent: none. */
  readonly memory?: AgentMemory | undefined
  /** Agents that `spawn` may start. */
  readonly agents?: AgentsOptions | undefined
  /**
   * Its mailbox: other agents write to it there, and it writes to them. From `createPost`, or `openFileMailbox` of `palimpsest/node`.
   * Absent: none.
   */
  readonly mail?: Mailbox<Letter> | undefined
  /** Called with each decision and its numbers. */
  readonly onTrace?: ((event: TraceEvent) => void) | undefined
}
