import type { Narrowed } from 'palimpsest/agents'

import type { PermissionMode } from '../../agent/permissions/permission-mode.ts'

// An agent never may do more than its parent: its mode can only narrow, like its tools.

/** How much each mode allows unasked; higher is more. */
const WIDTH: { readonly [mode in PermissionMode]: number } = {
  plan: 0,
  default: 1,
  'accept-edits': 2,
  bypass: 3,
}

export function narrowMode(
  parent: PermissionMode,
  wanted: PermissionMode | undefined,
): Narrowed<PermissionMode> {
  if (wanted === undefined || wanted === parent) return { value: parent }
  if (WIDTH[wanted] < WIDTH[parent]) return { value: wanted }
  return { value: parent, why: `it asks for the mode ${wanted}, and its parent is in ${parent}` }
}
