// What a tool does, by the names that common agents use. This is the only list of names: all code that needs a tool's kind asks here.

/** Names are in lower case. */
const NAMES = {
  read: 'read read_file view view_file cat open_file',
  list: 'ls list',
  search: 'grep search_files find glob codebase_search',
  write: 'write write_file create_file create',
  edit: 'edit multiedit multi_edit edit_file str_replace str_replace_editor str_replace_based_edit_tool insert replace',
  notebook: 'notebookedit notebook_edit',
  patch: 'apply_patch',
  run: 'bash shell exec_command local_shell powershell run_command run_shell_command',
  /** More input for a running command. */
  input: 'write_stdin',
  fetch: 'websearch web_search webfetch web_fetch',
  todo: 'todowrite todo_write write_todos update_plan',
  agent: 'task agent subagent spawn_agent',
  /** Looks at what runs in the background. */
  look: 'bashoutput taskoutput agentoutput wait_agent',
  stop: 'killshell killbash taskstop close_agent',
  ask: 'askuser askuserquestion ask_user',
  /** A plan for the user to decide on. */
  plan: 'exitplanmode exit_plan_mode',
  recall: 'recall',
  /** Tasks of a team, or of a whole session. */
  tasks: 'taskcreate taskupdate tasklist',
  /** To another agent. */
  message: 'sendmessage send_message send_input',
} as const

export type ToolNature = keyof typeof NAMES

const natures = new Map<string, ToolNature>()
for (const nature of keysOf(NAMES)) for (const name of NAMES[nature].split(' ')) natures.set(name, nature)

/** Undefined for an unknown tool. */
export function natureOf(tool: string): ToolNature | undefined {
  return natures.get(tool.toLowerCase())
}

/** Whether a tool is of one of these natures. */
export function isOf(tool: string, ...of: readonly ToolNature[]): boolean {
  const nature = natureOf(tool)
  return nature !== undefined && of.includes(nature)
}

function keysOf<Keys extends string>(names: { readonly [Key in Keys]: string }): readonly Keys[] {
  return Object.keys(names).filter((key): key is Keys => key in names)
}
