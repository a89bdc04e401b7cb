import type { JsonText } from '../../wire/json.ts'
import type { ToolResultBlock, ToolUseBlock } from '../../wire/message.ts'

/** What every stand-in of a cleared result begins with. */
export const CLEARED_TEXT = '[Old tool result content cleared]'

/** The argument, as far as it tells one call from another. */
const ARGUMENT_CHARS_MAX = 200

/** The block that stands for a cleared result. Without details it is the first line alone. */
export function standIn(
  result: ToolResultBlock,
  details?: { readonly call: ToolUseBlock; readonly chars: number; readonly digest: string },
): JsonText {
  return JSON.stringify({
    type: 'tool_result',
    tool_use_id: result.tool_use_id,
    content: details
      ? [CLEARED_TEXT, describe(details.call, details.chars), details.digest].filter(Boolean).join('\n')
      : CLEARED_TEXT,
    ...(result.is_error !== undefined && { is_error: result.is_error }),
  })
}

function describe(call: ToolUseBlock, chars: number): string {
  const argument = JSON.stringify(call.input)
  const shown = argument.length > ARGUMENT_CHARS_MAX ? `${argument.slice(0, ARGUMENT_CHARS_MAX)}…` : argument
  return `${call.name} ${shown}, ${chars} characters; call it again to see it whole`
}
