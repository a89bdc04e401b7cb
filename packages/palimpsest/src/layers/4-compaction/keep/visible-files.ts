import { readCall } from '../../../facts/read-call.ts'
import { isOf } from '../../../facts/tool-natures.ts'
import type { ViewNode } from '../../../transcript/view.ts'
import { isJsonObject } from '../../../wire/json.ts'
import { isBlock, type ToolResultBlock, type ToolUseBlock } from '../../../wire/message.ts'

/** A read with one of these shows only a part of the file. */
const PART_KEYS = ['offset', 'limit', 'view_range', 'start_line', 'end_line']

/** The tool may have cut a command's output that is longer. */
const PRINTED_CHARS_MAX = 25_000

interface Shown {
  readonly path: string
  readonly charsMax: number
}

/** Files that these messages show whole, as read or printed. Stand-ins and previews do not count. */
export function visibleFiles(nodes: readonly ViewNode[]): ReadonlySet<string> {
  const calls = new Map<string, Shown>()
  const files = new Set<string>()
  for (const { block, original } of nodes.flatMap((node) => node.blocks)) {
    if (isBlock(block, 'tool_use')) {
      const shown = shownBy(block)
      if (shown) calls.set(block.id, shown)
    }
    if (!isBlock(block, 'tool_result') || !original || block.is_error) continue
    const shown = calls.get(block.tool_use_id)
    if (shown && charsOf(block) <= shown.charsMax) files.add(shown.path)
  }
  return files
}

/** The one file that a call shows whole; undefined if there is none. */
function shownBy(call: ToolUseBlock): Shown | undefined {
  const path = readPath(call.name, call.input)
  if (path !== undefined) return { path, charsMax: Infinity }
  const { family, reads } = readCall(call)
  const [printed, ...others] = reads
  if (family !== 'shell' || printed === undefined || others.length > 0) return undefined
  return { path: printed, charsMax: PRINTED_CHARS_MAX }
}

function charsOf({ content = '' }: ToolResultBlock): number {
  if (typeof content === 'string') return content.length
  return content.reduce((sum, block) => sum + (isBlock(block, 'text') ? block.text.length : 0), 0)
}

function readPath(name: string, input: unknown): string | undefined {
  if (!isOf(name, 'read') || !isJsonObject(input)) return undefined
  if (PART_KEYS.some((key) => input[key] !== undefined)) return undefined
  const path = input['file_path'] ?? input['path']
  return typeof path === 'string' ? path : undefined
}
