export type ToolKind = 'read' | 'edit' | 'write' | 'shell' | 'search' | 'todo' | 'other'

/** Names that coding agents give their tools. */
const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(?:todo_?write|update_plan|update_todos?)$/i, 'todo'],
  [/^(?:read|read_?file|view|open_?file|cat)$/i, 'read'],
  [/^(?:edit|multi_?edit|str_replace\w*|apply_patch|replace|notebook_?edit)$/i, 'edit'],
  [/^(?:write|write_?file|create_?file)$/i, 'write'],
  [/^(?:bash|shell|exec\w*|run_(?:shell_)?command|terminal)$/i, 'shell'],
  [/^(?:grep|glob|search\w*|find\w*|ls|list_?\w*)$/i, 'search'],
]

export function toolKind(name: string): ToolKind {
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}
