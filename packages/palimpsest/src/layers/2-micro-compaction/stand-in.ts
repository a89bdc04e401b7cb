import type { JsonText } from '../../wire/json.ts'
import type { ToolResultBlock, ToolUseBlock } from '../../wire/message.ts'

/** What every stand-in of a cleared result begins with. */
export const CLEARED_TEXT = '[Old tool result content cleared]'

/** The argument, as far as it tells one call from another. */
const ARGUMENT_CHARS_MAX = 200

export interface StandInDetails {
  readonly call: ToolUseBlock
  readonly chars: number
  readonly digest: string
  /** Of a result that went to disk when it arrived. */
  readonly path?: string | undefined
  /** How the model sees it again; undefined where it has no means but the call itself. */
  readonly way?: string | undefined
}

/** The block that stands for a cleared result. Without details it is the first line alone. */
export function standIn(result: ToolResultBlock, details?: StandInDetails): JsonText {
  return JSON.stringify({
    type: 'tool_result',
    tool_use_id: result.tool_use_id,
    content: details
      ? [CLEARED_TEXT, describe(details), details.digest].filter(Boolean).join('\n')
      : CLEARED_TEXT,
    ...(result.is_error !== undefined && { is_error: result.is_error }),
  })
}

function describe({ call, chars, path, way }: StandInDetails): string {
  const argument = JSON.stringify(call.input)
  const shown = argument.length > ARGUMENT_CHARS_MAX ? `${argument.slice(0, ARGUMENT_CHARS_MAX)}…` : argument
  if (path !== undefined) return `${call.name} ${shown}; stored whole in ${path}`
  const how = way === undefined ? 'call it again to see it whole' : `${way} shows it as it was`
  return `${call.name} ${shown}, ${chars} characters; ${how}`
}

/** It stands for a cleared result and quotes nothing of it. */
export function saysNothing({ content }: ToolResultBlock): boolean {
  return typeof content === 'string' && content.startsWith(CLEARED_TEXT) && content.split('\n').length <= 2
}
