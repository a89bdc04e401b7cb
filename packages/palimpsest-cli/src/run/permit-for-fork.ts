import type { Permit } from 'palimpsest/loop'

import { createPermit, type PermitOptions } from '../agent/permissions/create-permit.ts'
import { ownNatureOf } from '../agent/tools/tool-natures.ts'

/** What the conversation may do unasked, except what reaches out or leaves something behind. */
export function permitForFork(permits: Omit<PermitOptions, 'mode' | 'ask'>): Permit {
  // A fork may write memories only, whatever the settings say about commands.
  const sandbox = { ...permits.sandbox, writing: undefined }
  const permit = createPermit({ ...permits, sandbox, mode: 'default' })
  return async (tool, input, context) => {
    const nature = ownNatureOf(tool.name)
    const isReading = nature === 'read' || nature === 'search' || tool.name === 'Recall'
    const isFit = isReading || nature === 'write' || (nature === 'run' && tool.isReadOnly(input))
    if (!isFit) return { allow: false, reason: `${tool.name} does not work beside the conversation.` }
    return await permit(tool, input, context)
  }
}
