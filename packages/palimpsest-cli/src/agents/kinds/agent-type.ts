import type { PermissionMode } from '../../agent/permissions/permission-mode.ts'

// What defines a type of agent: its prompt, and what it gets from its parent.

export const MEMORY_SCOPES = ['user', 'project', 'local'] as const

export interface AgentType {
  readonly name: string
  /** When to use it: the model chooses by this text. */
  readonly description: string
  /** Its system prompt. */
  readonly prompt: string
  readonly source: 'project' | 'user' | 'built-in'
  /** Path of its file; absent for built-in types. */
  readonly path?: string | undefined
  /** Undefined: everything its parent has. */
  readonly tools: readonly string[] | undefined
  readonly disallowedTools: readonly string[]
  /** Undefined: its parent's model. */
  readonly model: string | undefined
  readonly mode: PermissionMode | undefined
  readonly maxTurns: number | undefined
  readonly memory: (typeof MEMORY_SCOPES)[number] | undefined
  readonly background: boolean
  readonly isolation: 'worktree' | undefined
}

/** Something in a file that is not used, and why. */
export interface TypeProblem {
  readonly path: string
  readonly text: string
}

export interface AgentTypes {
  /** Each name once: the project's before the user's, the user's before ours. */
  readonly types: readonly AgentType[]
  readonly problems: readonly TypeProblem[]
}

/** Names that other agents use for the same types. */
const OTHER_NAMES = new Map([
  ['explore', 'search'],
  ['general-purpose', 'general'],
])

export function findAgentType(name: string, types: readonly AgentType[]): AgentType | undefined {
  const wanted = name.trim()
  const lower = wanted.toLowerCase()
  return (
    types.find((type) => type.name === wanted) ??
    types.find((type) => type.name.toLowerCase() === lower) ??
    types.find((type) => type.name === OTHER_NAMES.get(lower))
  )
}
