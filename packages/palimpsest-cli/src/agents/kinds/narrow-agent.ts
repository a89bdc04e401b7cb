import type { PermissionMode } from '../../agent/permissions/permission-mode.ts'
import type { AgentType } from './agent-type.ts'

// An agent never has more than its parent: mode and tools only narrow.

/** From what asks for nothing unasked to what asks for all of it. */
const WIDTH: { readonly [mode in PermissionMode]: number } = {
  plan: 0,
  default: 1,
  'accept-edits': 2,
  bypass: 3,
}

export interface Narrowed<T> {
  readonly value: T
  /** Why it is not as the type has it. */
  readonly why?: string
}

export function narrowMode(
  parent: PermissionMode,
  wanted: PermissionMode | undefined,
): Narrowed<PermissionMode> {
  if (wanted === undefined || wanted === parent) return { value: parent }
  if (WIDTH[wanted] < WIDTH[parent]) return { value: wanted }
  return { value: parent, why: `it asks for the mode ${wanted}, and its parent is in ${parent}` }
}

/** In the order of the parent's. */
export function narrowTools(
  parent: readonly string[],
  { tools, disallowedTools }: Pick<AgentType, 'tools' | 'disallowedTools'>,
): Narrowed<readonly string[]> {
  const value = parent.filter((name) => (tools?.includes(name) ?? true) && !disallowedTools.includes(name))
  const missing = (tools ?? []).filter((name) => !parent.includes(name))
  if (missing.length === 0) return { value }
  return { value, why: `it asks for ${missing.join(', ')}, which its parent does not have` }
}
