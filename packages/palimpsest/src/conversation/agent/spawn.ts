import type { AgentPolicy } from '../../layers/7-agents/policy.ts'
import type { AgentReport, AgentState } from '../../layers/7-agents/prompt.ts'
import type { LoopEvent } from '../../loop/events.ts'
import type { Permit } from '../../loop/tool.ts'
import type { ServedTokens } from '../../wire/usage.ts'

// What a program specifies about agents that work for its agent, and what it gets back.

/** Which agents may be started, and their limits. Absent limits have their defaults. */
export interface AgentsOptions extends Partial<AgentPolicy> {
  /** By the name that is passed to `spawn`. `fork` is reserved: it means a fork of the conversation. */
  readonly types?: { readonly [name: string]: SpawnType } | undefined
}

/** A kind of agent. It never has more tools or permissions than its parent. */
export interface SpawnType {
  /** Its system prompt. */
  readonly prompt: string
  /** Which of its parent's tools it has, by name. Absent: all. */
  readonly tools?: readonly string[] | undefined
  /** Which of its parent's tools it does not have, by name. */
  readonly disallowedTools?: readonly string[] | undefined
  /** An id, or a family (`opus`, `sonnet`, `haiku`). Absent: its parent's model. */
  readonly model?: string | undefined
  /** Most requests, if fewer than `agents.maxTurns`. */
  readonly maxTurns?: number | undefined
  /** Asked in addition to its parent's `permit`: both must allow a call. */
  readonly permit?: Permit | undefined
}

export interface SpawnOptions {
  /** Ends the agent early; what it did is kept. It always ends with its parent. */
  readonly signal?: AbortSignal | undefined
  /** A few words, for lists. Absent: the beginning of the prompt. */
  readonly description?: string | undefined
  /** Receives the agent's events. */
  readonly onEvent?: ((event: LoopEvent) => void) | undefined
}

export interface SpawnResult extends Omit<AgentReport, 'state'> {
  /** Id with which its conversation can be resumed; empty if it was refused. */
  readonly id: string
  /** `refused`: a limit kept it from starting, and `why` says which one. */
  readonly state: AgentState | 'refused'
  /** Tokens of all its requests. */
  readonly usage: ServedTokens
  /** US dollars for all its requests; its parent's total includes them. */
  readonly costUsd: number
}

/** Starts an agent and waits for its report. A failed agent is a result; only an invalid call throws. */
export type Spawn = (type: string, prompt: string, options?: SpawnOptions) => Promise<SpawnResult>
