import { isOf } from '../../facts/tool-natures.ts'
import { isJsonObject } from '../../wire/json.ts'
import type { ToolUseBlock } from '../../wire/message.ts'

// Files whose text holds for the whole conversation: instructions, memories and their index. A read of one never becomes stale.

const NAMES = new Set([
  'agents.md',
  'agents.override.md',
  'claude.md',
  'claude.local.md',
  'gemini.md',
  'memory.md',
])
/** One memory of a project or of the user. */
const MEMORY = /[/\\]memory[/\\][^/\\]+\.md$/
const PATH_MEMBERS = ['file_path', 'filePath', 'path', 'filename']

/** Whether the call reads such a file. */
export function readsStandingFile({ name, input }: ToolUseBlock): boolean {
  if (!isOf(name, 'read') || !isJsonObject(input)) return false
  return PATH_MEMBERS.some((member) => {
    const path = input[member]
    if (typeof path !== 'string') return false
    return NAMES.has((path.split(/[/\\]/).at(-1) ?? '').toLowerCase()) || MEMORY.test(path)
  })
}
