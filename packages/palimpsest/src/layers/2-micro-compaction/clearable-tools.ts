import { isOf } from '../../facts/tool-natures.ts'

/** Whose results may be cleared: what they said can be had again by the same call. Not: questions to the user, notebooks, tasks, agents, MCP. */
export function isClearableTool(name: string): boolean {
  return isOf(name, 'read', 'list', 'run', 'input', 'search', 'fetch', 'edit', 'patch', 'write')
}
