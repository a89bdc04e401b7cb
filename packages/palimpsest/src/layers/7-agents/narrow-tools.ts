// An agent never has more than its parent: tools only narrow.

export interface Narrowed<T> {
  readonly value: T
  /** Why it differs from what the type says. */
  readonly why?: string
}

export interface ToolChoice {
  /** Undefined: all tools that its parent has. */
  readonly tools?: readonly string[] | undefined
  readonly disallowedTools?: readonly string[] | undefined
}

/** Names, in the parent's order. */
export function narrowTools(
  parent: readonly string[],
  { tools, disallowedTools = [] }: ToolChoice,
): Narrowed<readonly string[]> {
  const value = parent.filter((name) => (tools?.includes(name) ?? true) && !disallowedTools.includes(name))
  const missing = (tools ?? []).filter((name) => !parent.includes(name))
  if (missing.length === 0) return { value }
  return { value, why: `it asks for ${missing.join(', ')}, which its parent does not have` }
}
