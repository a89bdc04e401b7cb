import { isOf } from '../../facts/tool-natures.ts'

/** Whether results of the tool may be cleared: the same call gets them again. Not: user questions, notebooks, tasks, agents, MCP. */
export function isClearableTool(name: string): boolean {
  return isOf(name, 'read', 'list', 'run', 'input', 'search', 'fetch', 'edit', 'patch', 'write')
}
