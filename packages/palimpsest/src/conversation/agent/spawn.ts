import type { AgentPolicy } from '../../layers/7-agents/policy.ts'
import type { AgentReport, AgentState } from '../../layers/7-agents/prompt.ts'
import type { LoopEvent } from '../../loop/events.ts'
import type { Permit } from '../../loop/tool.ts'
import type { ServedTokens } from '../../wire/usage.ts'

// What a program says of agents that work for its agent, and what it gets back.

/** Which agents may be started, and what bounds them. Limits that are left out are as built. */
export interface AgentsOptions extends Partial<AgentPolicy> {
  /** By the name that `spawn` is given. `fork` is no name: it is a fork of the conversation. */
  readonly types?: { readonly [name: string]: SpawnType } | undefined
}

/** A kind of agent. It never has more than its parent. */
export interface SpawnType {
  /** Its system prompt. */
  readonly prompt: string
  /** Names of its parent's tools that it has. Left out: all. */
  readonly tools?: readonly string[] | undefined
  /** Names of its parent's tools that it does not have. */
  readonly disallowedTools?: readonly string[] | undefined
  /** An id, or a family (`opus`, `sonnet`, `haiku`). Left out: its parent's. */
  readonly model?: string | undefined
  /** Requests at most, where that is fewer than `agents.maxTurns`. */
  readonly maxTurns?: number | undefined
  /** Asked beside its parent's: both must allow a call. */
  readonly permit?: Permit | undefined
}

export interface SpawnOptions {
  /** Ends the agent early; what it did is kept. It ends with its parent in any case. */
  readonly signal?: AbortSignal | undefined
  /** A few words, for lists. Left out: the beginning of the prompt. */
  readonly description?: string | undefined
  /** Told what happens in the agent. */
  readonly onEvent?: ((event: LoopEvent) => void) | undefined
}

export interface SpawnResult extends Omit<AgentReport, 'state'> {
  /** Of its conversation, to resume it by; empty where it was refused. */
  readonly id: string
  /** `refused`: a limit did not let it start, and `why` says which. */
  readonly state: AgentState | 'refused'
  /** Tokens of all its requests. */
  readonly usage: ServedTokens
  /** US dollars of all its requests; they are in the total of its parent too. */
  readonly costUsd: number
}

/** Starts an agent and waits for its report. A failed agent is a result; only a wrong call throws. */
export type Spawn = (type: string, prompt: string, options?: SpawnOptions) => Promise<SpawnResult>
