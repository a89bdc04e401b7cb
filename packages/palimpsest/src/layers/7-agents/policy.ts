// What bounds agents. Numbers are defaults of settings, where there is one.

/** Of one session, whoever started them: more would drown the machine and the provider's rate limit. */
export const AGENTS_AT_ONCE_MAX = 16
/** An agent of an agent of an agent: what is nested deeper is lost to whoever watches. */
export const AGENT_DEPTH_MAX = 3
/** Requests of one agent: more than any piece of work should take. */
export const AGENT_ROUNDS_MAX = 100
/** Of one agent, tokens that the cache did not serve, and tokens of answers. */
export const AGENT_TOKENS_MAX = 2_000_000
/** Of one agent, US dollars. */
export const AGENT_USD_MAX = 5
/** Of a report that comes as a message: as a result it would be stored, and be shown in part, by its size. */
export const NOTICE_CHARS_MAX = 20_000
/** So long a task of a team stays with an owner that is not heard of: longer than most calls of a tool, short enough to wait for. */
export const TASK_LEASE_MINUTES = 10

/** What may be set of it. */
export interface AgentPolicy {
  readonly maxAtOnce: number
  readonly maxDepth: number
  readonly maxTurns: number
  readonly maxTokens: number
  readonly maxCostUsd: number
}
