import { RECALL_TOOL } from '../transcript/recall-tool.ts'
import type { View } from '../transcript/view.ts'
import { isBlock, toBlocks, type ToolResultBlock, type ToolUseBlock } from '../wire/message.ts'
import { commandWords } from './like-call.ts'
import { readCall } from './read-call.ts'

// Of several results of one command, search or read, the newest counts. An older one with different content must not outlive it: a model
// that reads on would believe it.

/** Calls whose result is contradicted by a newer result of the same call: each id, with the id of the newest call. */
export function contradictedCalls({ nodes }: View): ReadonlyMap<string, string> {
  const asked = new Map<string, string>()
  const newest = new Map<string, { readonly id: string; readonly says: () => string }>()
  const contradicted = new Map<string, string>()
  for (const { block } of nodes.flatMap(({ blocks }) => blocks)) {
    const key = isBlock(block, 'tool_use') ? callKey(block) : undefined
    if (key !== undefined && isBlock(block, 'tool_use')) asked.set(block.id, key)
  }
  for (const { block, original } of nodes.toReversed().flatMap(({ blocks }) => blocks.toReversed())) {
    const key = isBlock(block, 'tool_result') ? asked.get(block.tool_use_id) : undefined
    if (!isBlock(block, 'tool_result') || key === undefined) continue
    const says = (): string => (!original ? '' : key === TODO_KEY ? block.tool_use_id : saysOf(block))
    const later = newest.get(key)
    // Most calls are made once, so their result is compared with nothing.
    if (later === undefined) newest.set(key, { id: block.tool_use_id, says })
    else if (later.says() !== says()) contradicted.set(block.tool_use_id, later.id)
  }
  return contradicted
}

/** Each list replaces the one before, whatever its result says. */
const TODO_KEY = 'todos'

/** Undefined for a call that does something, and for one that reports the past: neither reports the present state. */
function callKey(use: ToolUseBlock): string | undefined {
  if (use.name === RECALL_TOOL) return undefined
  const { command, changes, todos } = readCall(use)
  if (todos) return TODO_KEY
  if (command !== undefined) return `shell ${commandWords(command).join(' ')}`
  return changes.length > 0 ? undefined : `${use.name} ${JSON.stringify(use.input)}`
}

/** A block never changes, so it is read once. */
const said = new WeakMap<ToolResultBlock, string>()

/** Times, counts and line numbers differ from run to run and say nothing new; whether the call failed does. */
function saysOf(result: ToolResultBlock): string {
  const known = said.get(result)
  if (known !== undefined) return known
  const text = toBlocks(result.content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
  const says = `${result.is_error === true} ${text.replaceAll(/[\d\s]+/g, '')}`
  said.set(result, says)
  return says
}
