import type { JsonText } from '../../wire/json.ts'
import type { ToolResultBlock, ToolUseBlock } from '../../wire/message.ts'

/** Every stand-in of a cleared result begins with this. */
export const CLEARED_TEXT = '[Old tool result content cleared]'

/** Longest shown argument, in characters: enough to tell one call from another. */
const ARGUMENT_CHARS_MAX = 200

export interface StandInDetails {
  readonly call: ToolUseBlock
  readonly chars: number
  readonly digest: string
  /** Where the whole result is, if it was stored on disk when it arrived. */
  readonly path?: string | undefined
  /** How the model can see it again; undefined if only by repeating the call. */
  readonly way?: string | undefined
}

/** The block that replaces a cleared result. Without details it has only the first line. */
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

/** Whether it is a stand-in that quotes nothing of the result. */
export function saysNothing({ content }: ToolResultBlock): boolean {
  return typeof content === 'string' && content.startsWith(CLEARED_TEXT) && content.split('\n').length <= 2
}
