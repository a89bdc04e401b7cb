import type { View } from '../../../transcript/view.ts'
import { isJsonObject } from '../../../wire/json.ts'
import { isBlock, type ToolUseBlock } from '../../../wire/message.ts'

/** What takes the most room, for a message to the user. */
export interface Contributor {
  readonly what: string
  readonly tokens: number
}

const WHAT_CHARS_MAX = 80
/** Input members that name a call best, in this order. */
const NAMING_KEYS = ['file_path', 'path', 'command', 'pattern', 'url', 'query']

/** The largest blocks in view, largest first. */
export function biggestContributors(
  view: View,
  toTokens: (raw: number) => number,
  countMax: number,
): readonly Contributor[] {
  const calls = new Map<string, ToolUseBlock>()
  const found = view.nodes.flatMap((node) =>
    node.blocks.map(({ block, tokens }): Contributor => {
      if (isBlock(block, 'tool_use')) calls.set(block.id, block)
      const call = isBlock(block, 'tool_result') ? calls.get(block.tool_use_id) : undefined
      const what = call ? nameOf(call) : node.role === 'user' ? `message of ${node.source.origin}` : 'answer'
      return { what, tokens: Math.round(toTokens(tokens)) }
    }),
  )
  return found.toSorted((a, b) => b.tokens - a.tokens).slice(0, countMax)
}

function nameOf({ name, input }: ToolUseBlock): string {
  const members = isJsonObject(input) ? input : {}
  const value = NAMING_KEYS.map((key) => members[key]).find((one) => typeof one === 'string')
  return `${name}${typeof value === 'string' ? ` ${value.slice(0, WHAT_CHARS_MAX)}` : ''}`
}
