// What each of our own tools does. Who decides about calls asks here, by the exact name: a tool that is spelled otherwise is another one.

export const TOOL_NATURES = {
  Read: 'read',
  Grep: 'search',
  Glob: 'search',
  Write: 'write',
  Edit: 'write',
  Bash: 'run',
  WebFetch: 'fetch',
  // These touch nothing outside of the conversation.
  BashOutput: 'inner',
  KillShell: 'inner',
  TodoWrite: 'inner',
  AskUser: 'inner',
  // Writes the plan of the conversation, and nothing else.
  ExitPlanMode: 'inner',
  Recall: 'inner',
  // What an agent does is judged call by call.
  Agent: 'inner',
  TaskOutput: 'inner',
  TaskStop: 'inner',
  // They touch nothing but the list of the team.
  TaskCreate: 'inner',
  TaskUpdate: 'inner',
  TaskList: 'inner',
  // What it says is data to whoever reads it.
  SendMessage: 'inner',
} as const

export type ToolName = keyof typeof TOOL_NATURES
export type OwnNature = (typeof TOOL_NATURES)[ToolName]

export function isOwnTool(name: string): name is ToolName {
  return Object.hasOwn(TOOL_NATURES, name)
}

/** Undefined for a tool that is not ours: a server's, or one that a rule merely names. */
export function ownNatureOf(name: string): OwnNature | undefined {
  return isOwnTool(name) ? TOOL_NATURES[name] : undefined
}
