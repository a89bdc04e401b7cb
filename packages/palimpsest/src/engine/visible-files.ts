import type { ViewNode } from '../transcript/view.ts'
import { isJsonObject } from '../wire/json.ts'
import { isBlock } from '../wire/message.ts'

const READERS = new Set(['read', 'read_file', 'view'])
/** A read of a part is not the whole file. */
const PART_KEYS = ['offset', 'limit', 'view_range', 'start_line', 'end_line']

/** Files that these messages show whole, as read: stand-ins and previews are not the file. */
export function visibleFiles(nodes: readonly ViewNode[]): ReadonlySet<string> {
  const calls = new Map<string, string>()
  const files = new Set<string>()
  for (const { block, original } of nodes.flatMap((node) => node.blocks)) {
    if (isBlock(block, 'tool_use')) {
      const path = readPath(block.name, block.input)
      if (path !== undefined) calls.set(block.id, path)
    }
    if (!isBlock(block, 'tool_result') || !original || block.is_error) continue
    const path = calls.get(block.tool_use_id)
    if (path !== undefined) files.add(path)
  }
  return files
}

function readPath(name: string, input: unknown): string | undefined {
  if (!READERS.has(name.toLowerCase()) || !isJsonObject(input)) return undefined
  if (PART_KEYS.some((key) => input[key] !== undefined)) return undefined
  const path = input['file_path'] ?? input['path']
  return typeof path === 'string' ? path : undefined
}
