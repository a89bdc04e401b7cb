// Limits for agents. The numbers are defaults of settings, where there is one.

/** Most agents of one session at a time, whoever started them: more would overload the machine and the provider's rate limit. */
export const AGENTS_AT_ONCE_MAX = 16
/** An agent of an agent of an agent: nobody can follow what is nested deeper. */
export const AGENT_DEPTH_MAX = 3
/** Requests that one agent may make: more than any piece of work should take. */
export const AGENT_ROUNDS_MAX = 100
/** For one agent: tokens that the cache did not serve, and tokens of answers. */
export const AGENT_TOKENS_MAX = 2_000_000
/** For one agent, in US dollars. */
export const AGENT_USD_MAX = 5
/** For a report that comes as a message. As a result it would be stored, and shown in part, by its size. */
export const NOTICE_CHARS_MAX = 20_000
/** How long a task of a team stays with a silent owner: longer than most tool calls, short enough to wait for. */
export const TASK_LEASE_MINUTES = 10

/** The limits that a user can set. */
export interface AgentPolicy {
  readonly maxAtOnce: number
  readonly maxDepth: number
  readonly maxTurns: number
  readonly maxTokens: number
  readonly maxCostUsd: number
}
