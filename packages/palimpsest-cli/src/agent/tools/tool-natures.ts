// What each of our own tools does. Permission checks look it up by the exact name: another spelling is another tool.

export const TOOL_NATURES = {
  Read: 'read',
  Grep: 'search',
  Glob: 'search',
  Write: 'write',
  Edit: 'write',
  Bash: 'run',
  WebFetch: 'fetch',
  // These touch nothing outside the conversation.
  BashOutput: 'inner',
  KillShell: 'inner',
  TodoWrite: 'inner',
  AskUser: 'inner',
  // Writes the plan of the conversation, and nothing else.
  ExitPlanMode: 'inner',
  Recall: 'inner',
  // Each call of an agent is judged separately.
  Agent: 'inner',
  TaskOutput: 'inner',
  TaskStop: 'inner',
  // These touch only the team's list.
  TaskCreate: 'inner',
  TaskUpdate: 'inner',
  TaskList: 'inner',
  // To its reader, the message is data.
  SendMessage: 'inner',
} as const

export type ToolName = keyof typeof TOOL_NATURES
export type OwnNature = (typeof TOOL_NATURES)[ToolName]

export function isOwnTool(name: string): name is ToolName {
  return Object.hasOwn(TOOL_NATURES, name)
}

/** Undefined for a tool that is not ours: a server's, or a name that only a rule mentions. */
export function ownNatureOf(name: string): OwnNature | undefined {
  return isOwnTool(name) ? TOOL_NATURES[name] : undefined
}
